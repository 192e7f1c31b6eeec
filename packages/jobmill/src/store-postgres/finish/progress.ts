/**
 * Stores the progress and log of running attempts, by the primary key of `running` and fenced by the token.
 */
import type { Progress } from '../../store/types/finish.ts'
import { unpackMissing } from '../claim/unpack.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** Omitted fields are kept. An unchanged log is not rewritten, only its TOAST reference. */
const PROGRESS = `
WITH ${GIVEN_CTE}, input AS (
  SELECT x.* FROM given, json_to_recordset(p -> 'items') AS x(id uuid, token int8, has_value bool, value json, log text)
)
UPDATE jobmill.running AS r
   SET progress = CASE WHEN i.has_value THEN coalesce(i.value, 'null'::json) ELSE r.progress END, log = coalesce(i.log, r.log)
  FROM input AS i WHERE r.id = i.id AND r.token = i.token
RETURNING r.id, r.token`

export async function progress(context: Context, items: readonly Progress[]): Promise<boolean[]> {
  if (items.length === 0) return []
  // A statement updates a row once, so several items for one attempt are merged.
  const notes = new Map<string, Progress>()
  for (const item of items) {
    const { value = notes.get(keyOf(item))?.value, log = notes.get(keyOf(item))?.log } = item
    notes.set(keyOf(item), { ...item, value, log })
  }
  const { query } = context.connection
  const written = new Set<string>()
  const write = async (): Promise<readonly Progress[]> => {
    const open = [...notes].flatMap(([key, note]) => (written.has(key) ? [] : note))
    const rows = await run(context, query, PROGRESS, `"items":[${open.map(noteText).join(',')}]`)
    for (const row of rows) written.add(`${String(row['id'])} ${String(row['token'])}`)
    return open.filter((note) => !written.has(keyOf(note)))
  }
  if (await unpackMissing(context, query, await write())) await write()
  return items.map((item) => written.has(keyOf(item)))
}

function keyOf({ id, token }: Progress): string {
  return `${id} ${token}`
}

/** One item of the parameter. The value is JSON text and is embedded unchanged. */
function noteText({ id, token, value, log }: Progress): string {
  return (
    `{"id":"${id}","token":${token}` +
    (value === undefined ? '' : `,"has_value":true,"value":${value}`) +
    (log === undefined ? '}' : `,"log":${JSON.stringify(log)}}`)
  )
}
