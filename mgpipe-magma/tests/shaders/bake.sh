#!/bin/sh
# Compiles the test shaders to the SPIR-V beside them.
set -e
cd "$(dirname "$0")"
for shader in point.vert block.vert strip.vert strip_id.vert color.frag; do
    glslangValidator -V --quiet -Os -g0 "$shader" -o "$shader.spv"
done
