/** Of this package: what package.json says, which a test compares. */
export const VERSION = '0.1.0'
