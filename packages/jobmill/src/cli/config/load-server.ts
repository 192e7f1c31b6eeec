/** Loads `jobmill-server`, the API and Mission Control. It is a package of its own, which may be missing. */
import { JobmillError } from '../../job/errors.ts'
import type { Mill } from '../../runtime/mill.ts'

/** The options of `serve` that the command line sets. */
export interface ApiOptions {
  readonly port: number
  readonly bind?: string
  readonly tokens?: string
  readonly basePath?: string
  readonly requestsPerSecond?: number
  readonly insecure?: boolean
  readonly onError?: (error: unknown, what: string) => void
}

export interface Served {
  readonly url: string
  readonly hasPage: boolean
  readonly close: () => Promise<void>
}

/** The part of the package that the command line uses. */
export interface ServerPackage {
  readonly serve: (mill: Mill<never>, options: ApiOptions) => Promise<Served>
}

export async function loadServer(): Promise<ServerPackage> {
  try {
    // It compiles after the core, so the compiler must not look for its declarations.
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- see above
    return (await import('jobmill-server' as string)) as ServerPackage
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    if (!message.startsWith("Cannot find package 'jobmill-server'")) throw error
    throw new JobmillError(
      'OPTION_INVALID',
      'the API needs the package jobmill-server, which is not installed',
      { fix: 'Run npm install jobmill-server, or run jobs without the API: jobmill work', cause: error },
    )
  }
}
