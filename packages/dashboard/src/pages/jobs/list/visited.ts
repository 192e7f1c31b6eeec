/** The jobs that were listed last, and the one that was opened last. Back gives its row the focus again. */
let listed: readonly string[] = []
let opened: string | null = null

export function noteListed(ids: readonly string[]): void {
  listed = ids
}

export function noteOpened(id: string): void {
  opened = id
}

export const lastOpened = (): string | null => opened

/** The job `step` rows after this one in the list that it was opened from. */
export function neighborOf(id: string, step: 1 | -1): string | undefined {
  const at = listed.indexOf(id)
  return at === -1 ? undefined : listed[at + step]
}
