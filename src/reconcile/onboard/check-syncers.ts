/**
 * Whether a syncer of the cluster would apply what we keep under `.drift/`. Pure: objects and files are given. Sources: Flux
 * kustomize-controller `docs/spec/v1/kustomizations.md` (a path without kustomization.yaml takes every YAML file below it),
 * source-controller `docs/spec/v1/gitrepositories.md` (.sourceignore, spec.ignore), argo-cd `docs/user-guide/directory.md`, Config Sync
 * `spec.git.dir`. kustomize and Config Sync leave out objects with the local-config annotation.
 */

import { metadataText } from '../../krm/resource.ts'
import { isIgnored, parseKrmIgnore } from '../../package/krm-ignore.ts'
import type { Finding } from '../../ports/probes.ts'
import { DRIFT_FOLDER } from '../../record/record-paths.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../text/json.ts'
import { oneLine } from '../../text/one-line.ts'

export interface KeptFile {
  /** From the root: `.drift/policy.yaml`. */
  readonly path: string
  /** Its first line is the one that Argo CD skips files by. */
  readonly marked: boolean
  /** Every object in it has the local-config annotation. */
  readonly localConfig: boolean
}

export interface SyncedRepository {
  /** Address as it was given. */
  readonly remote: string
  /** Files of the base branch under `.drift/` that syncers read. */
  readonly kept: readonly KeptFile[]
  /** Text of `.sourceignore` in the root; empty where there is none. */
  readonly sourceIgnore: string
  /** The root has a kustomization.yaml, so that a Kustomization of the root applies what that lists. */
  readonly rootKustomization: boolean
}

export interface SyncerObjects {
  readonly kustomizations: readonly JsonObject[]
  readonly gitRepositories: readonly JsonObject[]
  readonly applications: readonly JsonObject[]
  /** RootSync and RepoSync. */
  readonly configSyncs: readonly JsonObject[]
  /** False where there may be more of them, as in a recording. */
  readonly complete: boolean
}

const IGNORE_FIX = `add "/${DRIFT_FOLDER}/" to .sourceignore in the root of the repository`

export function judgeSyncers(objects: SyncerObjects, repository: SyncedRepository): readonly Finding[] {
  const findings = [
    ...objects.kustomizations.flatMap((one) => judgeKustomization(one, objects.gitRepositories, repository)),
    ...objects.applications.flatMap((one) => judgeApplication(one, repository)),
    ...objects.configSyncs.flatMap((one) => judgeConfigSync(one, repository)),
  ]
  if (findings.length > 0) return findings
  if (!objects.complete) {
    const message = `whether a syncer reads ${DRIFT_FOLDER}/ is not known: the recording does not say that it has every syncer's resources`
    return [{ check: 'syncer-path', state: 'skipped', message }]
  }
  return [{ check: 'syncer-path', state: 'passed', message: `no syncer of the cluster reads ${DRIFT_FOLDER}/ of this repository` }]
}

function judgeKustomization(object: JsonObject, sources: readonly JsonObject[], repository: SyncedRepository): Finding[] {
  const name = `Flux Kustomization ${titleOf(object)}`
  const namespace = text(object, 'spec', 'sourceRef', 'namespace') || metadataText(object, 'namespace')
  const source = sources.find(
    (one) => metadataText(one, 'name') === text(object, 'spec', 'sourceRef', 'name') && metadataText(one, 'namespace') === namespace,
  )
  if (text(object, 'spec', 'sourceRef', 'kind') !== 'GitRepository' || source === undefined) return []
  if (!sameRepository(text(source, 'spec', 'url'), repository.remote) || !covers(text(object, 'spec', 'path'))) return []
  if (repository.rootKustomization) return []
  const rules = parseKrmIgnore(`${repository.sourceIgnore}\n${text(source, 'spec', 'ignore')}`)
  if (isIgnored(rules, DRIFT_FOLDER, true)) return [passed(`${name} reads the root, and .sourceignore keeps ${DRIFT_FOLDER}/ from it`)]
  return [
    verdict(
      name,
      repository.kept.filter(({ localConfig }) => !localConfig),
      IGNORE_FIX,
    ),
  ]
}

function judgeApplication(object: JsonObject, repository: SyncedRepository): Finding[] {
  const name = `Argo CD Application ${titleOf(object)}`
  const spec = part(object, 'spec')
  const several = isJsonObject(spec) ? getKey(spec, 'sources') : undefined
  const sources = [isJsonObject(spec) ? getKey(spec, 'source') : undefined, ...(isJsonArray(several) ? several : [])].filter(isJsonObject)
  return sources.flatMap((source) => {
    const path = text(source, 'path')
    if (!sameRepository(text(source, 'repoURL'), repository.remote) || path === '' || !covers(path)) return []
    const ownFolder = normal(path) === DRIFT_FOLDER || normal(path).startsWith(`${DRIFT_FOLDER}/`)
    if (!ownFolder && part(source, 'directory', 'recurse') !== true) return []
    if (repository.rootKustomization && !ownFolder) return []
    if (new RegExp(`(^|[{,])(/?${DRIFT_FOLDER.replace('.', '\\.')}/\\*\\*?)([,}]|$)`).test(text(source, 'directory', 'exclude'))) {
      return [passed(`${name} reads every folder, and excludes ${DRIFT_FOLDER}/`)]
    }
    const fix = `set spec.source.directory.exclude of the Application to "${DRIFT_FOLDER}/**"`
    return [
      verdict(
        name,
        repository.kept.filter(({ marked }) => !marked),
        fix,
      ),
    ]
  })
}

function judgeConfigSync(object: JsonObject, repository: SyncedRepository): Finding[] {
  const name = `${text(object, 'kind') || 'RootSync'} ${titleOf(object)}`
  if (!sameRepository(text(object, 'spec', 'git', 'repo'), repository.remote) || !covers(text(object, 'spec', 'git', 'dir'))) return []
  const fix = 'set spec.git.dir to the folder that holds the packages'
  return [
    verdict(
      name,
      repository.kept.filter(({ localConfig }) => !localConfig),
      fix,
    ),
  ]
}

function verdict(name: string, applied: readonly KeptFile[], fix: string): Finding {
  const [first] = applied
  if (first === undefined) {
    const message = `${name} reads ${DRIFT_FOLDER}/, whose files are marked so that it applies none of them now`
    return { check: 'syncer-path', state: 'warning', message, fix }
  }
  const more = applied.length > 1 ? ` and ${applied.length - 1} more` : ''
  const message = `${name} reads ${DRIFT_FOLDER}/ and would apply ${oneLine(first.path)}${more}`
  return { check: 'syncer-path', state: 'failed', code: 'BP1007', message, fix }
}

function passed(message: string): Finding {
  return { check: 'syncer-path', state: 'passed', message }
}

/** Whether a path of a syncer is the root, or lies in our folder. */
function covers(path: string): boolean {
  const folder = normal(path)
  return folder === '' || folder === DRIFT_FOLDER || folder.startsWith(`${DRIFT_FOLDER}/`)
}

function normal(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')
}

/** Host and path, however the address is written: `https://github.com/a/b.git`, `git@github.com:a/b`. */
function sameRepository(left: string, right: string): boolean {
  const [one, other] = [placeOf(left), placeOf(right)]
  return one !== '' && one === other
}

function placeOf(address: string): string {
  const plain = address
    .replace(/^[a-z+]+:\/\//i, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?!\d+\/)/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  return plain.replace(/^([^/]+?)(:\d+)?\//, '$1/').toLowerCase()
}

function titleOf(object: JsonObject): string {
  return oneLine(`${metadataText(object, 'namespace')}/${metadataText(object, 'name')}`)
}

function part(object: JsonObject, ...keys: readonly string[]): Json | undefined {
  return keys.reduce<Json | undefined>((value, key) => (isJsonObject(value) ? getKey(value, key) : undefined), object)
}

function text(object: JsonObject, ...keys: readonly string[]): string {
  const value = part(object, ...keys)
  return typeof value === 'string' ? value : ''
}
