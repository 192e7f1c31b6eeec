// Parses a Dockerfile into its stages, enough to check the contents of an image and how it starts.

interface Instruction {
  readonly name: string
  readonly text: string
}

export interface Stage {
  readonly name: string
  readonly from: string
  readonly instructions: readonly Instruction[]
}

/** Substitutes the variables that are set before the first stage. */
export function readDockerfile(text: string): Stage[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^([A-Z]+)\s+(.*)$/.exec(line) ?? unreadable(line))
  const set = new Map<string, string>()
  const stages: (Omit<Stage, 'instructions'> & { instructions: Instruction[] })[] = []
  for (const [, name = '', raw = ''] of lines) {
    const filled = raw.replaceAll(/\$\{(\w+)\}/g, (whole, key: string) => set.get(key) ?? whole)
    if (name === 'FROM') {
      const [, from = '', as = ''] = /^(?:--\S+ )?(\S+)(?: AS (\w+))?$/.exec(filled) ?? unreadable(filled)
      stages.push({ name: as, from, instructions: [] })
    } else if (stages.length === 0 && name === 'ARG') {
      const [key = '', value = ''] = filled.split('=')
      set.set(key, value)
    } else (stages.at(-1) ?? unreadable(raw)).instructions.push({ name, text: filled })
  }
  return stages
}

/** A target with the instructions of the stages that it builds on, those of the base first. */
export function imageOf(stages: readonly Stage[], target: string): Stage {
  const stage = stages.find(({ name }) => name === target) ?? unreadable(`FROM … AS ${target}`)
  const isStage = stages.some(({ name }) => name === stage.from)
  if (!isStage) return stage
  const base = imageOf(stages, stage.from)
  return { name: target, from: base.from, instructions: [...base.instructions, ...stage.instructions] }
}

/** The variables that an image sets. */
export function variablesOf({ instructions }: Stage): Record<string, string> {
  return Object.fromEntries(
    instructions.flatMap(({ name, text }) => {
      const [, key = '', value = ''] = /^(\w+)=(.*)$/.exec(text) ?? []
      return name === 'ENV' ? [[key, value]] : []
    }),
  )
}

/** The last instruction of that name; undefined when there is none. */
export function last({ instructions }: Stage, name: string): string | undefined {
  return instructions.findLast((one) => one.name === name)?.text
}

/** The arguments of the exec form. Throws for the shell form. */
export function words(text: string | undefined): string[] {
  return JSON.parse(text ?? 'nothing') as string[]
}

function unreadable(line: string): never {
  throw new Error(`not a line of a Dockerfile: ${line}`)
}
