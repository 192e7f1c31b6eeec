/** Payloads and results of more bytes are loaded on demand. */
export const LARGEST = 262_144
