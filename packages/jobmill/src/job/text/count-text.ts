/** Formats numbers and counts for people. */

/** `1,100` */
export function number(n: number): string {
  return n.toLocaleString('en-US')
}

/** `1 job`, `1,100 jobs`, `2 passes` */
export function countText(n: number, what: string, many = `${what}s`): string {
  return `${number(n)} ${n === 1 ? what : many}`
}
