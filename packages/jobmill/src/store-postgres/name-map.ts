/** Ids of queues and kinds in both directions, as they were read from one history of a database. */
import { NamesChanged } from './names-changed.ts'

export interface NameMap {
  /** In jobmill.names for as long as these ids are true. */
  readonly version: string
  readonly queues: Ids
  readonly kinds: Ids
}

interface Ids {
  add(name: string, id: number): void
  missing(names: ReadonlySet<string>): string[]
  /** Those that are known here and not among these. */
  beyond(names: ReadonlySet<string>): [name: string, id: number][]
  knows(id: number): boolean
  knowsAll(ids: Iterable<number>): boolean
  /** Of a name that was ensured. */
  id(name: string): number
  idIfKnown(name: string): number | undefined
  name(id: number): string
}

/** No version of any database, so that the first statement reads the names. */
export const NO_VERSION = '00000000-0000-0000-0000-000000000000'

export function nameMap(version: string): { version: string } & NameMap {
  return {
    version,
    queues: ids((name) => ({ queues: [name], kinds: [] })),
    kinds: ids((name) => ({ queues: [], kinds: [name] })),
  }
}

function ids(missing: (name: string) => { queues: string[]; kinds: string[] }): Ids {
  const byName = new Map<string, number>()
  const byId = new Map<number, string>()
  return {
    add(name, id) {
      byName.set(name, id)
      byId.set(id, name)
    },
    missing: (wanted) => [...wanted].filter((name) => !byName.has(name)),
    beyond: (others) => [...byName].filter(([name]) => !others.has(name)),
    knows: (id) => byId.has(id),
    knowsAll: (wanted) => [...wanted].every((id) => byId.has(id)),
    idIfKnown: (name) => byName.get(name),
    id(name) {
      const id = byName.get(name)
      // It was there when it was ensured: the database was replaced in between.
      if (id === undefined) throw new NamesChanged(missing(name))
      return id
    },
    name(id) {
      const name = byId.get(id)
      if (name === undefined) throw new NamesChanged()
      return name
    },
  }
}
