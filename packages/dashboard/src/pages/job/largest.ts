/** Larger payloads and results are loaded on demand, in bytes. */
export const LARGEST = 262_144
