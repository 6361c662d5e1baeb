/* The files that the console was built into (console/CMakeLists.txt), as they are sent: compressed. */
#define FILE_AS(name, path)              \
    .global tenure_##name##_begin;       \
    .global tenure_##name##_end;         \
    tenure_##name##_begin: .incbin path; \
    tenure_##name##_end: .byte 0

    .section .rodata
    FILE_AS(console_html, "index.html.gz")
    FILE_AS(console_js, "console.js.gz")
    FILE_AS(console_css, "console.css.gz")
    FILE_AS(console_svg, "console.svg.gz")

    .section .note.GNU-stack, "", %progbits
