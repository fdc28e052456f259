/**
 * What Argo CD made of the cases: `recorded/<group>.json`, written by `record.ts` and read by tests. The inputs are beside it, in `cases/<group>*.ts`.
 *
 *   made      versions of Argo CD and of the tool that it ran, and the command that recorded it
 *   inputs    digest of the cases: a recording of others says nothing
 *   cases     by name, as in the inputs:
 *     types     what Argo CD took each source for: `Helm`, `Kustomize`, `Directory`; `none` of one that only has files for others
 *     helm      every command line of Helm, in order:
 *       folder    where it ran: `repository/` is the root of the repository, the last part of its address the root of another one
 *       args      one for each argument; paths as `folder`. `VALUES` is the temporary file with `values` or `valuesObject`.
 *                 `--set`, `--set-string` and `--set-file` are in order among themselves; Argo CD has no order there
 *       values    text of the temporary file
 *     warnings  conditions, as that an object is there twice
 *     objects   what is applied, in the order of apiVersion, kind, namespace and name: as after DeduplicateTargetObjects of Argo CD, with the namespace
 *               of the destination and without the mark of the Application. Hooks and tests of Helm are among them
 *     error     in place of objects
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { formatCanonicalJson, type Json, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { type ArgoCases, questionOf } from './argo-case.ts'

export interface HelmCommand {
  readonly folder: string
  readonly args: readonly string[]
  readonly values?: string
}

export interface RecordedCase {
  readonly types?: readonly string[]
  readonly helm?: readonly HelmCommand[]
  readonly warnings?: readonly string[]
  readonly objects?: readonly JsonObject[]
  readonly error?: string
}

export interface Recording {
  readonly made: {
    readonly 'argo-cd': string
    readonly helm?: string
    readonly kustomize: string
    readonly command: string
  }
  readonly inputs: string
  readonly cases: { readonly [name: string]: RecordedCase }
}

export function digestOfCases(cases: ArgoCases): string {
  const all = Object.entries(cases).map(([name, each]): Json => [name, questionOf(each)])
  return createHash('sha256').update(formatCanonicalJson(all)).digest('hex').slice(0, 16)
}

export function readRecording(group: string): Recording {
  return parseJson(readFileSync(pathOf(group), 'utf8')) as unknown as Recording
}

/** A line for each case. */
export function writeRecording(group: string, { made, inputs, cases }: Recording): void {
  const lines = Object.entries(cases).map(
    ([name, each]) => `${JSON.stringify(name)}: ${formatCanonicalJson(each as unknown as Json)}`,
  )
  writeFileSync(
    pathOf(group),
    `{\n"made": ${JSON.stringify(made)},\n"inputs": ${JSON.stringify(inputs)},\n"cases": {\n${lines.join(',\n')}\n}\n}\n`,
  )
}

function pathOf(group: string): URL {
  return new URL(`recorded/${group}.json`, import.meta.url)
}
