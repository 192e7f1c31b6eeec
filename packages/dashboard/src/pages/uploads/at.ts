/** An instant as the rest of the page has it. */
export const at = (text: string | null): number | null => (text === null ? null : Date.parse(text))
