/** Ids of queues and kinds in both directions, as they were read from one history of a database. */
import { NamesChanged } from './names-changed.ts'

export interface NameMap {
  /** In jobmill.names for as long as these ids are true. */
  readonly version: string
  /** ROWS_OF_NAMES of the rows that these were read from; null before that. */
  readonly rows: string | null
  readonly queues: Ids
  readonly kinds: Ids
}

export interface MutableNameMap extends NameMap {
  version: string
  rows: string | null
}

interface Ids {
  add(name: string, id: number): void
  missing(names: ReadonlySet<string>): string[]
  addAll(others: Ids): void
  /** Whether one is known here that is not among these. */
  hasBeyond(names: ReadonlySet<string>): boolean
  /** Those that are known here and not there. */
  goneFrom(there: Ids): [name: string, id: number][]
  /** Those that have another id there, with the one that is known here. */
  movedIn(there: Ids): [name: string, id: number][]
  entries(): Iterable<[name: string, id: number]>
  knows(id: number): boolean
  knowsAll(ids: Iterable<number>): boolean
  /** Of a name that was ensured. */
  id(name: string): number
  idIfKnown(name: string): number | undefined
  name(id: number): string
}

/** No version of any database, so that the first statement reads the names. */
export const NO_VERSION = '00000000-0000-0000-0000-000000000000'

export function nameMap(version: string): MutableNameMap {
  return {
    version,
    rows: null,
    queues: ids((name) => ({ queues: [name], kinds: [] })),
    kinds: ids((name) => ({ queues: [], kinds: [name] })),
  }
}

function ids(missing: (name: string) => { queues: string[]; kinds: string[] }): Ids {
  const byName = new Map<string, number>()
  const byId = new Map<number, string>()
  function add(name: string, id: number): void {
    byName.set(name, id)
    byId.set(id, name)
  }
  return {
    add,
    addAll(others) {
      for (const [name, id] of others.entries()) add(name, id)
    },
    missing: (wanted) => [...wanted].filter((name) => !byName.has(name)),
    hasBeyond: (others) => [...byName.keys()].some((name) => !others.has(name)),
    goneFrom: (there) => [...byName].filter(([name]) => there.idIfKnown(name) === undefined),
    movedIn: (there) => [...byName].filter(([name, id]) => (there.idIfKnown(name) ?? id) !== id),
    entries: () => byName,
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
