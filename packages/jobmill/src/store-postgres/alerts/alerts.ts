/** Alert rules: reads them, and writes one if it did not change since it was read. */
import type { AlertRecord, AlertWrite } from '../../store/types/alert.ts'
import type { Row } from '../connection/connection.ts'
import { ask, type Context, inTransaction } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

const ALL = `
WITH ${GIVEN_CTE}
SELECT a.name, a.revision, a.rule, a.state FROM given, jobmill.alert AS a ORDER BY a.name COLLATE "C"`

/** A concurrent insert of the same name waits, and then finds the row. */
const CREATE = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.alert (name, revision, rule, state)
SELECT p ->> 'name', now, (p ->> 'rule')::json, (p ->> 'state')::json FROM given
ON CONFLICT (name) DO NOTHING RETURNING revision`

// All by primary key.
const LOCK = `
WITH ${GIVEN_CTE}
SELECT a.revision, a.rule, a.state FROM given, jobmill.alert AS a WHERE a.name = p ->> 'name' FOR UPDATE OF a`
const SAVE = `
WITH ${GIVEN_CTE}
UPDATE jobmill.alert AS a SET revision = a.revision + 1, rule = (p ->> 'rule')::json, state = (p ->> 'state')::json
  FROM given WHERE a.name = p ->> 'name'`
const DELETE = `
WITH ${GIVEN_CTE}
DELETE FROM jobmill.alert AS a USING given WHERE a.name = p ->> 'name' RETURNING 1`

/** For a transfer: replaces an existing rule. */
const REPLACE = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.alert (name, revision, rule, state)
SELECT x.name, x.revision, x.rule, x.state
  FROM given, json_to_recordset(p -> 'alerts') AS x(name text, revision int8, rule json, state json) ORDER BY x.name
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, rule = excluded.rule, state = excluded.state`

interface Stored {
  readonly revision: number
  readonly rule: string
  readonly state: string
}

export async function alerts(context: Context): Promise<AlertRecord[]> {
  return (await ask<Row & Stored & { readonly name: string }>(context, ALL)).map((row) => ({
    name: row.name,
    revision: row.revision,
    rule: JSON.parse(row.rule) as AlertRecord['rule'],
    state: JSON.parse(row.state) as AlertRecord['state'],
  }))
}

export function putAlert(context: Context, write: AlertWrite): Promise<number | null> {
  const { name, revision } = write
  const given = { name, rule: JSON.stringify(write.rule), state: JSON.stringify(write.state) }
  return inTransaction(context, async (inside) => {
    const [made] = revision === null ? await ask<Pick<Stored, 'revision'>>(inside, CREATE, given) : []
    if (made !== undefined) return made.revision
    const [known] = await ask<Stored>(inside, LOCK, { name })
    if (known === undefined) return null
    const isDone = known.rule === given.rule && known.state === given.state
    if (isDone && known.revision === (revision === null ? known.revision : revision + 1))
      return known.revision
    if (known.revision !== revision) return null
    await ask(inside, SAVE, given)
    return revision + 1
  })
}

export async function deleteAlert(context: Context, name: string): Promise<boolean> {
  return (await ask(context, DELETE, { name })).length > 0
}

export async function replaceAlerts(inside: Context, records: readonly AlertRecord[]): Promise<void> {
  if (records.length > 0) await ask(inside, REPLACE, { alerts: records })
}
