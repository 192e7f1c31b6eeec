/** Maps queue and kind names to ids and back, as read from one version of the database. */
import { NamesChanged } from './names-changed.ts'

export interface NameMap {
  /** Present in jobmill.names as long as these ids are valid. */
  readonly version: string
  /** The ROWS_OF_NAMES checksum of the rows that were read; null before the first read. */
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
  /** Whether a name is known here that is not in `names`. */
  hasBeyond(names: ReadonlySet<string>): boolean
  /** The names that are known here but not in `there`. */
  goneFrom(there: Ids): [name: string, id: number][]
  /** The names that have another id in `there`, with the id known here. */
  movedIn(there: Ids): [name: string, id: number][]
  entries(): Iterable<[name: string, id: number]>
  knows(id: number): boolean
  knowsAll(ids: Iterable<number>): boolean
  /** Requires a name that was ensured. */
  id(name: string): number
  idIfKnown(name: string): number | undefined
  name(id: number): string
}

/** Matches no database, so that the first statement reads the names. */
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
      // The name existed when it was ensured, so the database was replaced since.
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
