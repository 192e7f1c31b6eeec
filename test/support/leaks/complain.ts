// How a leak is told: as a failure, with everything that is left in it.

export function complain(who: string, left: readonly string[]): void {
  if (left.length > 0)
    throw new Error(`${who} left something behind:\n${left.map((one) => `  ${one}`).join('\n')}`)
}
