/** What figures are about, as the store knows it: one word, and the name. */

export function queueScope(queue: string): string {
  return `queue ${queue}`
}

export function instanceScope(instance: string): string {
  return `instance ${instance}`
}

export function limitScope(limit: string): string {
  return `limit ${limit}`
}
