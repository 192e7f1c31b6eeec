/** The options of a pool, checked once. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { JobmillError } from '../../job/errors.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkWhole } from '../../job/numbers.ts'
import {
  CHILD_KEYS,
  checkText,
  checkTexts,
  type ChildOptions,
  type ChildPlan,
  childPlan,
} from './child-options.ts'

export interface WorkerPoolOptions extends ChildOptions {
  /** The kind of the jobs that the children run. */
  readonly kind: string
  /** The program and its arguments, started without a shell. */
  readonly argv: readonly [string, ...string[]]
  /** The number of children, and so of concurrent jobs (default 1). */
  readonly size?: number
  /** The working directory of the children. Default: that of this process. */
  readonly cwd?: string
  /** Replaces a child after this many jobs. Default: never. */
  readonly recycleAfter?: number
}

export interface PoolPlan extends ChildPlan {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string | undefined
  readonly size: number
  readonly recycleAfter: number
}

export function poolPlan(options: WorkerPoolOptions): PoolPlan {
  const at = 'workerPool'
  checkObjectKeys(options, at, ['kind', 'argv', 'size', 'cwd', 'recycleAfter', ...CHILD_KEYS])
  const [file = '', ...args] = checkTexts(options.argv, `${at}.argv`, 'OPTION_INVALID')
  if (file === '') {
    throw new JobmillError('OPTION_INVALID', 'has no program', {
      field: `${at}.argv`,
      fix: 'Pass the program and its arguments, such as ["python3", "resize.py"]',
    })
  }
  const { size = DEFAULTS.poolSize, cwd, recycleAfter } = options
  return {
    ...childPlan(options, at),
    file,
    args,
    cwd: cwd === undefined ? undefined : checkText(cwd, `${at}.cwd`, 'OPTION_INVALID'),
    size: checkWhole(size, `${at}.size`, BOUNDS.poolSize),
    recycleAfter:
      recycleAfter === undefined
        ? Number.POSITIVE_INFINITY
        : checkWhole(recycleAfter, `${at}.recycleAfter`, BOUNDS.recycleAfter),
  }
}
