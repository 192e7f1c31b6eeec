import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

/** The store at a PostgreSQL URL, or in a SQLite file. */
export function storeAt(place: string) {
  return /^postgres(?:ql)?:/.test(place) ? postgres(place) : sqlite(place)
}
