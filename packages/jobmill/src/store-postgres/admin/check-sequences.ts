/** Checks that no sequence is behind the tables with its numbers. */
import { broken, type Diagnostic, ok } from '../../store/admin/admin.ts'
import { sequencesBehind } from '../schema/sequences.ts'
import type { Look } from './reach.ts'

export async function sequences({ query, sql }: Look): Promise<Diagnostic[]> {
  const behind = await sequencesBehind(query, sql)
  if (behind.length === 0) return [ok('sequences', 'no sequence is behind its table')]
  return behind.map(({ name, issued, highest }) =>
    broken(
      'sequences',
      `the sequence ${sql(`jobmill.${name}`)} is at ${issued}, but its table has ${highest}, so it will issue used numbers again`,
      'Restart a process that uses this database: it raises the sequences when it starts',
    ),
  )
}
