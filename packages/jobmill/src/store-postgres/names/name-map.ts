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

type Ids = ReturnType<typeof ids>

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

function ids(missing: (name: string) => { queues: string[]; kinds: string[] }) {
  const byName = new Map<string, number>()
  const byId = new Map<number, string>()
  return {
    byName: byName as ReadonlyMap<string, number>,
    add(name: string, id: number): void {
      byName.set(name, id)
      byId.set(id, name)
    },
    missing: (names: Iterable<string>): string[] => [...names].filter((name) => !byName.has(name)),
    knows: (id: number): boolean => byId.has(id),
    idIfKnown: (name: string): number | undefined => byName.get(name),
    /** Requires a name that `ensure` has created or found. */
    id(name: string): number {
      const id = byName.get(name)
      // The name existed earlier, so the database was replaced since then.
      if (id === undefined) throw new NamesChanged(missing(name))
      return id
    },
    name(id: number): string {
      const name = byId.get(id)
      if (name === undefined) throw new NamesChanged()
      return name
    },
  }
}
