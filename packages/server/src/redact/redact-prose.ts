/** Distinguishes the words of a sentence from secrets. */

/** Words that describe a secret. As passwords they are too weak to be worth hiding. */
const PROSE_WORDS =
  /^(?:a|an|and|are|as|at|bad|by|can|cannot|changed|correct|deleted|denied|do|does|empty|expired|failed|flag|for|from|given|has|hidden|if|in|incorrect|invalid|is|it|its|malformed|may|mismatch|missing|must|no|none|not|now|of|ok|on|option|or|present|provided|refused|rejected|removed|required|revoked|set|shown|should|than|that|the|this|to|too|unexpected|unknown|unset|updated|use|valid|was|were|will|with|without|wrong|yes|you|your)[.!?…]*$/i

export function isProseWord(word: string): boolean {
  return PROSE_WORDS.test(word)
}

/** Words of a sentence contain no digits, inner capitals or punctuation. */
export function isPlainWord(word: string): boolean {
  return word.length < 20 && !/\d|\p{Ll}\p{Lu}|[^\p{L}.!?…'’-]/u.test(word)
}
