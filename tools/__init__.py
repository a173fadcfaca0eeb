"""What builds and checks the course itself; nothing in course_lib or in a chapter imports it."""
