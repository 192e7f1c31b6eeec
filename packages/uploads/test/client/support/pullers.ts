/** A puller for a mailbox of a scene, stopped with its test, and its reports. */
import { type PulledFile, type Puller, pull, type PullOptions, type Trouble } from 'jobmill-uploads/client'
import { onTestFinished } from 'vitest'
import type { Box, Scene } from '../../support/inboxes.ts'
import { freshFolder } from './folders.ts'

export interface TestPuller extends Puller {
  readonly folder: string
  readonly pulled: PulledFile[]
  readonly reports: Trouble[]
}

/** Short waits for tests. */
const QUICK = { backoff: { first: 5, most: 20 }, wait: '5s' } as const

export function optionsFor(
  scene: Pick<Scene, 'url'>,
  box: Box,
  options: Partial<PullOptions> = {},
): PullOptions {
  return { url: scene.url, mailbox: box.id, token: box.token, folder: freshFolder(), ...QUICK, ...options }
}

export function puller(scene: Pick<Scene, 'url'>, box: Box, options: Partial<PullOptions> = {}): TestPuller {
  const pulled: PulledFile[] = []
  const reports: Trouble[] = []
  const all = optionsFor(scene, box, options)
  const instance = pull({
    ...all,
    async onFile(file) {
      await options.onFile?.(file)
      pulled.push(file)
    },
    onTrouble: (trouble) => void reports.push(trouble),
  })
  onTestFinished(() => instance.stop())
  return { ...instance, folder: all.folder, pulled, reports }
}
