/** The scopes of metrics in the store: a type and a name. */

export function queueScope(queue: string): string {
  return `queue ${queue}`
}

export function kindScope(kind: string): string {
  return `kind ${kind}`
}

export function instanceScope(instance: string): string {
  return `instance ${instance}`
}

export function limitScope(limit: string): string {
  return `limit ${limit}`
}
