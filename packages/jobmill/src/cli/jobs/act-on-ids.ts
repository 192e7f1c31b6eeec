/** Applies an action to jobs by id, one after the other, and reports the outcome of each. */
import type { BulkAct } from '../../runtime/operate/bulk.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { OperateAnswer } from '../../runtime/operate/operate.ts'
import { EXIT } from '../program/command.ts'
import { progressOf } from '../output/progress.ts'
import { type Cell, table } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'

export interface NamedJobs {
  readonly act: BulkAct
  readonly ids: readonly string[]
  /** Used by cancel only. */
  readonly reason: string | undefined
  readonly asJson: boolean
}

export async function actOnIds(mill: Mill, named: NamedJobs, terminal: Terminal): Promise<number> {
  const { act, ids, reason } = named
  const progress = progressOf(act, terminal)
  const answers: OperateAnswer[] = []
  for (const id of ids) {
    answers.push(await apply(mill, act, id, reason))
    progress.at(answers.length, ids.length)
  }
  progress.end()
  if (named.asJson) terminal.out(JSON.stringify({ act, jobs: answers }))
  else
    terminal.out(
      table(
        ['id', 'answer', 'hint'],
        answers.map((answer) => rowOf(act, answer)),
        '',
        terminal,
      ),
    )
  return answers.every(isDone) ? EXIT.done : EXIT.refused
}

async function apply(
  mill: Mill,
  act: BulkAct,
  id: string,
  reason: string | undefined,
): Promise<OperateAnswer> {
  switch (act) {
    case 'retry':
      return mill.retry(id)
    case 'run-now':
      return mill.runNow(id)
    case 'cancel':
      return mill.cancel(id, reason)
    case 'delete':
      return mill.delete(id)
  }
}

/** A job that already was in the wanted state counts as success. */
function isDone({ verdict }: OperateAnswer): boolean {
  return verdict === 'changed' || verdict === 'unchanged'
}

const DONE: Readonly<Record<BulkAct, string>> = {
  retry: 'queued for retry',
  'run-now': 'ready',
  cancel: 'cancelled',
  delete: 'deleted',
}

function rowOf(act: BulkAct, answer: OperateAnswer): Cell[] {
  const style = isDone(answer) ? 'green' : 'red'
  const { id, verdict, state, hint = '' } = answer
  if (act === 'cancel' && state === 'running')
    return [id, { text: 'requested', style }, 'Running: its signal is aborted within a second']
  const text = {
    changed: DONE[act],
    unchanged: `already ${state ?? 'gone'}`,
    refused: 'refused',
    unknown: 'unknown',
  }
  return [id, { text: text[verdict], style }, verdict === 'unknown' ? 'No job has this id' : hint]
}
