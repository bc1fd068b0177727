#version 460 core
// Quad n of a strip of four vertices covers column n of sixteen, and its green tells the draw within a command.
layout(set = 0, binding = 0) uniform mgl_Globals { vec4 rect; vec4 color; };
layout(location = 0) out vec4 v_color;
void main() {
    int column = (gl_VertexIndex >> 2) + (gl_VertexIndex & 1);
    float y = (gl_VertexIndex & 2) == 0 ? -1.0 : 1.0;
    gl_Position = vec4(float(column) / 8.0 - 1.0, y, 0.0, 1.0);
    v_color = vec4(color.r, float(gl_DrawID) / 255.0, color.ba);
}
