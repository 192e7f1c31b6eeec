/** What the process that dies, and whoever looks at what is left, know of each other. */
export const KEY = 'the-key'
export const CONTENTS = ['first'.repeat(1_000), 'second'.repeat(60_000)] as const

export type Told =
  | { readonly uploaded: readonly string[] }
  | { readonly fetched: string }
  | { readonly acked: string }
  | { readonly swept: true }
