/** The databases that limits must hold on. */
import { inject } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { recycledSchema } from '../../../../test/support/recycled-schemas.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { type Database, oracles } from './scene.ts'

export interface Place {
  readonly name: 'oracle' | 'sqlite' | 'postgres'
  readonly database: Database
}

export const PLACES: readonly Place[] = [
  { name: 'oracle', database: oracles },
  {
    name: 'sqlite',
    database(clock) {
      const file = freshFile()
      return () => sqlite(file, { clock, durability: 'relaxed' })
    },
  },
  {
    name: 'postgres',
    database(clock) {
      const url = inject('keptPostgresUrl')
      const schema = recycledSchema(url, 'limits')
      return () => postgres(url, { schema, clock })
    },
  },
]
