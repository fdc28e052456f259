import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureProgram, type FindOptions, type Unavailable } from '../programs/build-programs.ts'
import { type GoProgram, PROGRAMS } from '../programs/programs.ts'

/** `test/programs/flux/go.mod` says which versions. */
export type FluxController = 'source-controller' | 'kustomize-controller' | 'helm-controller'

/** How to run controllers of Flux. */
export interface FluxPrograms {
  readonly state: 'ready'
  readonly programs: ReadonlyMap<FluxController, string>
  /** Their CustomResourceDefinitions, as YAML documents in one text. */
  readonly definitions: string
}

/** The programs to run, built where they are not there (`ensureProgram`). */
export async function findFlux(
  controllers: readonly FluxController[],
  options: FindOptions = {},
): Promise<FluxPrograms | Unavailable> {
  const programs = new Map<FluxController, string>()
  const definitions: string[] = []
  for (const name of controllers) {
    const found = await ensureProgram(name, options)
    if (found.state === 'unavailable') return found
    programs.set(name, found.path)
    const { beside }: GoProgram = PROGRAMS[name]
    const folder = join(found.folder, beside?.folder ?? '')
    for (const file of (await readdir(folder)).sort())
      definitions.push(await readFile(join(folder, file), 'utf8'))
  }
  return {
    state: 'ready',
    programs,
    definitions: definitions.map((text) => text.replace(/^(?!---\n)/, '---\n')).join(''),
  }
}
