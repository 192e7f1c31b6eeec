/** The summary of all rounds, as JSON and as text. */
import type { RoundResult, Struck } from './rounds/round.ts'

export interface Summary {
  readonly seed: number
  /** The number of violated guarantees. */
  readonly violations: number
  readonly lost: number
  /** Lost by definition: see RoundResult. */
  readonly unreplicated: number
  readonly rolledBack: number
  readonly acknowledged: number
  readonly finished: number
  readonly staleWritesRefused: number
  readonly nemeses: readonly Struck[]
  readonly broken: readonly string[]
}

export function summaryOf(seed: number, results: readonly RoundResult[]): Summary {
  const sum = (figure: (one: RoundResult) => number): number =>
    results.reduce((all, one) => all + figure(one), 0)
  const struck = Map.groupBy(
    results.flatMap((one) => one.struck),
    ({ name, store }) => `${name} ${store}`,
  )
  const broken = results.flatMap((one) => one.broken)
  return {
    seed,
    violations: broken.length,
    lost: sum(({ lost }) => lost),
    unreplicated: sum(({ unreplicated = 0 }) => unreplicated),
    rolledBack: sum(({ rolledBack = 0 }) => rolledBack),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    finished: sum(({ finished }) => finished),
    staleWritesRefused: sum(({ staleWritesRefused }) => staleWritesRefused),
    nemeses: [...struck.values()].map(together),
    broken,
  }
}

/** Totals of one nemesis on one store, with its slowest recovery. */
function together(all: readonly Struck[]): Struck {
  const [first, ...rest] = all as [Struck, ...Struck[]]
  return rest.reduce(
    (sum, one) => ({
      ...sum,
      injected: sum.injected + one.injected,
      recoverySeconds:
        sum.recoverySeconds === null || one.recoverySeconds === null
          ? null
          : Math.max(sum.recoverySeconds, one.recoverySeconds),
    }),
    first,
  )
}

function count(figure: number): string {
  return figure.toLocaleString('en')
}

/** As Markdown, also for docs/internals/reliability.md. */
export function tableOf({ nemeses, broken, ...figures }: Summary): string {
  const rows = nemeses.map(({ name, store, injected, recoverySeconds, why }) =>
    [name, store, why ?? count(injected), recoverySeconds === null ? 'never' : `${recoverySeconds} s`].join(
      ' | ',
    ),
  )
  return [
    '| nemesis | store | struck | recovered after |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
    `${count(figures.acknowledged)} jobs acknowledged, ${count(figures.finished)} finished, ${count(figures.lost)} lost unexpectedly. ` +
      `As documented, ${count(figures.unreplicated)} were lost in the asynchronous failover and ${count(figures.rolledBack)} in the restored backup. ` +
      `${count(figures.staleWritesRefused)} stale writes refused. Seed ${figures.seed}.`,
    broken.length === 0 ? 'All guarantees held.' : `Violated:\n${broken.join('\n')}`,
  ].join('\n')
}
