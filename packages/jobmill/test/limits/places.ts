/** The databases that limits must hold on. */
import { inject, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
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

/** The stores take turns. The oracle, which needs no database, runs every test. */
export function testOn(name: Place['name']): ReturnType<typeof inTurns> | typeof test {
  return name === 'oracle' ? test : inTurns(name, ['sqlite', 'postgres'])
}
