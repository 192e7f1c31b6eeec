/** Constants shared by the dying process and the test that examines its leftovers. */
export const KEY = 'the-key'
export const CONTENTS = ['first'.repeat(1_000), 'second'.repeat(60_000)] as const

/** An upload with blobs and without any row. */
export const NOBODYS = '00000000-0000-7000-8000-0000000000fe'

export type StepReport =
  | { readonly uploaded: readonly string[] }
  | { readonly fetched: string }
  | { readonly acked: string }
  | { readonly swept: true }
