// Reports leaks as a failure that lists all of them.

export function complain(who: string, left: readonly string[]): void {
  if (left.length > 0)
    throw new Error(`${who} left something behind:\n${left.map((one) => `  ${one}`).join('\n')}`)
}
