/** Converts an ISO time to milliseconds. */
export const at = (text: string | null): number | null => (text === null ? null : Date.parse(text))
