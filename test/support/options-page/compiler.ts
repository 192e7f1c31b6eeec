/** Opens the packages of some files with the TypeScript compiler, which resolves inherited options. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SourceFile } from 'typescript/unstable/ast'
import type { Checker } from 'typescript/unstable/sync'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface OpenFile {
  readonly source: SourceFile
  readonly checker: Checker
}

/** `packages/jobmill/src/…` belongs to `packages/jobmill/tsconfig.json`. */
function configOf(file: string): string {
  const [folder = '', name = ''] = file.split('/')
  return join(ROOT, folder, name, 'tsconfig.json')
}

/** Calls `read` with a function that opens files. Nodes are valid until it returns. */
export async function withCompiler<T>(
  files: readonly string[],
  read: (open: (file: string) => OpenFile) => T,
): Promise<T> {
  const listeners = new Set(process.listeners('exit'))
  // Imported here, because the module adds a listener that ends its processes at the exit of this one.
  const { API } = await import('typescript/unstable/sync')
  const api = new API({ cwd: ROOT })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [...new Set(files.map(configOf))] })
    return read((file) => {
      const project = snapshot.getProject(configOf(file))
      const source = project?.program.getSourceFile(join(ROOT, file))
      if (project === undefined || source === undefined)
        throw new Error(`${file} is not a source of its package. Correct it in options-page/`)
      return { source, checker: project.checker }
    })
  } finally {
    api.close()
    for (const each of process.listeners('exit')) if (!listeners.has(each)) process.off('exit', each)
  }
}
