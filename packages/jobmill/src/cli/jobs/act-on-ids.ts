/** An act on jobs that were named, one after the other: what became of each. */
import type { BulkAct } from '../../runtime/bulk.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { CancelAnswer, OperateAnswer } from '../../runtime/operate.ts'
import { EXIT } from '../command.ts'
import { progressOf } from '../progress.ts'
import { type Cell, table } from '../table.ts'
import type { Terminal } from '../terminal.ts'

/** As the library tells it. */
type Answer = OperateAnswer | { readonly id: string; readonly answer: CancelAnswer }

export interface NamedJobs {
  readonly act: BulkAct
  readonly ids: readonly string[]
  /** For a cancel. */
  readonly reason: string | undefined
  readonly asJson: boolean
}

export async function actOnIds(mill: Mill, named: NamedJobs, terminal: Terminal): Promise<number> {
  const { act, ids, reason } = named
  const progress = progressOf(act, terminal)
  const answers: Answer[] = []
  for (const id of ids) {
    answers.push(await answered(mill, act, id, reason))
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

async function answered(mill: Mill, act: BulkAct, id: string, reason: string | undefined): Promise<Answer> {
  switch (act) {
    case 'retry':
      return mill.retry(id)
    case 'run-now':
      return mill.runNow(id)
    case 'cancel':
      return { id, answer: await mill.cancel(id, reason) }
    case 'delete':
      return mill.delete(id)
  }
}

/** What was so already is as good as done. */
function isDone(answer: Answer): boolean {
  if ('answer' in answer) return answer.answer === 'cancelled' || answer.answer === 'requested'
  return answer.verdict === 'changed' || answer.verdict === 'unchanged'
}

const DONE: Readonly<Record<BulkAct, string>> = {
  retry: 'ready again',
  'run-now': 'ready',
  cancel: 'cancelled',
  delete: 'deleted',
}

const CANCEL_HINTS: Readonly<Record<CancelAnswer, string>> = {
  cancelled: '',
  requested: 'It runs: its signal fires within a second',
  finished: 'It had ended before',
  unknown: 'No job has this id',
}

function rowOf(act: BulkAct, answer: Answer): Cell[] {
  const style = isDone(answer) ? 'green' : 'red'
  if ('answer' in answer) return [answer.id, { text: answer.answer, style }, CANCEL_HINTS[answer.answer]]
  const { id, verdict, state, hint = '' } = answer
  const text = {
    changed: DONE[act],
    unchanged: `${state ?? 'gone'} already`,
    refused: 'refused',
    unknown: 'unknown',
  }
  return [id, { text: text[verdict], style }, verdict === 'unknown' ? CANCEL_HINTS.unknown : hint]
}
