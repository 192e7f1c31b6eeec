/** Saved views: reads all of them, adds one and deletes one. */
import type { NewView, ViewRecord } from '../../store/types/view.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

const ALL = `
WITH ${GIVEN_CTE}
SELECT v.name, v.search, v.author AS by, v.created_at AS "createdAt" FROM given, jobmill.saved_view AS v ORDER BY v.name COLLATE "C"`

/**
 * By primary key. A concurrent insert of the same name waits, and then changes nothing: the update only
 * returns a view that is the same already.
 */
const ADD = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.saved_view AS v (name, search, author, created_at)
SELECT p ->> 'name', p ->> 'search', p ->> 'by', now FROM given
ON CONFLICT (name) DO UPDATE SET name = excluded.name WHERE v.search = excluded.search AND v.author = excluded.author
RETURNING 1`

// By primary key.
const DELETE = `
WITH ${GIVEN_CTE}
DELETE FROM jobmill.saved_view AS v USING given WHERE v.name = p ->> 'name' RETURNING 1`

/** For a transfer: replaces an existing view. */
const REPLACE = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.saved_view (name, search, author, created_at)
SELECT x.name, x.search, x.by, x."createdAt"
  FROM given, json_to_recordset(p -> 'views') AS x(name text, search text, by text, "createdAt" int8) ORDER BY x.name
ON CONFLICT (name) DO UPDATE SET search = excluded.search, author = excluded.author, created_at = excluded.created_at`

export function views(context: Context): Promise<ViewRecord[]> {
  return ask<ViewRecord>(context, ALL)
}

export async function addView(context: Context, view: NewView): Promise<boolean> {
  return (await ask(context, ADD, view)).length > 0
}

export async function deleteView(context: Context, name: string): Promise<boolean> {
  return (await ask(context, DELETE, { name })).length > 0
}

export async function replaceViews(inside: Context, records: readonly ViewRecord[]): Promise<void> {
  if (records.length > 0) await ask(inside, REPLACE, { views: records })
}
