#!/bin/sh
# Compiles the internal shaders to SPIR-V: `src/shaders/bake.sh [OUT]` from the crate's folder. A test compares.
set -e
cd "$(dirname "$0")"
out="${1:-.}"
glslangValidator -V --quiet -Os -g0 rect.vert -o "$out/rect.spv"
for kind in 0 1 2; do
    glslangValidator -V --quiet -Os -g0 -DKIND=$kind clear.frag -o "$out/clear_$kind.spv"
    for dim in 0 1 2 3; do
        glslangValidator -V --quiet -Os -g0 -DKIND=$kind -DDIM=$dim blit.frag -o "$out/blit_${kind}_$dim.spv"
    done
done
for kind in 3 4 5; do
    for dim in 0 1 3; do
        glslangValidator -V --quiet -Os -g0 -DKIND=$kind -DDIM=$dim blit.frag -o "$out/blit_${kind}_$dim.spv"
    done
done
