/** What Flux's own code makes of files, as one process that answers any number of questions (`test/programs/appliers/fluxbuild.go`). */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Json, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { ensureProgram, type Unavailable } from '../programs/build-programs.ts'

/** Text by path. */
export type FileTexts = { readonly [path: string]: string }
export type Variables = { readonly [name: string]: string }

/** `variables` are the data of every ConfigMap and Secret that the Kustomization names. */
export type FluxQuestion =
  | {
      readonly ask: 'build'
      readonly files: FileTexts
      readonly object: JsonObject
      readonly variables?: Variables
    }
  | { readonly ask: 'substitute'; readonly text: string; readonly variables: Variables }
  | { readonly ask: 'artifact'; readonly files: FileTexts; readonly ignore?: string }

/** An error is an answer. What is not there is empty. */
export interface FluxAnswer {
  readonly objects?: readonly Json[]
  readonly text?: string
  readonly paths?: readonly string[]
  readonly error?: string
}

export interface FluxOracle {
  readonly state: 'ready'
  ask(question: FluxQuestion): Promise<FluxAnswer>
  close(): void
}

export async function openFluxOracle(): Promise<FluxOracle | Unavailable> {
  const found = await ensureProgram('appliers')
  if (found.state === 'unavailable') return found
  const child = spawn(found.path, ['answer', 'flux'], { stdio: ['pipe', 'pipe', 'pipe'] })
  // Warnings of kustomize, and at last why it ended.
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    said = `${said}${bytes}`.slice(-2_000)
  })
  const waiting: {
    readonly resolve: (answer: FluxAnswer) => void
    readonly reject: (error: Error) => void
  }[] = []
  createInterface({ input: child.stdout }).on('line', (line) =>
    waiting.shift()?.resolve(parseJson(line) as FluxAnswer),
  )
  child.on('close', (code) =>
    waiting
      .splice(0)
      .forEach(({ reject }) => void reject(new Error(`the appliers ended with ${code}: ${said}`))),
  )
  child.stdin.on('error', () => {}) // its end says why
  return {
    state: 'ready',
    ask: (question) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        child.stdin.write(`${JSON.stringify(question)}\n`)
      }),
    close: () => child.stdin.end(),
  }
}
