/**
 * Applies the substitutions of a Flux Kustomization, as fluxcd/pkg `kustomize` 1.23.0
 * `kustomize_varsub.go`, `ssa/utils/meta.go`, kustomize-controller 1.7.2
 * `kustomization_controller.go`.
 */
import { Failure } from '@backporch/kyaml/failure'
import {
  findNonEmptyText,
  getKey,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getAnnotations, getLabels, getMetadataText } from '@backporch/kyaml/resource'
import type { BuiltDocument, SyncerBuild } from '../build/built-source.ts'
import { BadSubstitution, parseVariableNames, substituteVariables } from './shell-variables.ts'

const GROUP = 'kustomize.toolkit.fluxcd.io'
const SUBSTITUTE = `${GROUP}/substitute`
const VARIABLE_NAME = /^[_A-Za-z][_A-Za-z0-9]*$/

/**
 * The controller reads each substituted object back.
 * @param text documents as kustomize prints them
 * @throws Failure BP1209 if the substitution fails
 */
export function buildFluxDocuments(
  flux: SyncerBuild,
  object: JsonObject,
  text: string,
): readonly BuiltDocument[] {
  const variables = getFluxVariables(flux, object)
  const documents = text.split(/^---\n/m).filter((document) => document.trim() !== '')
  if (getPartAt(object, 'spec', 'postBuild') === undefined || variables.size === 0)
    return documents.map((document) => ({ text: document }))
  const where = describeKustomization(object)
  const bad = [...variables.keys()].find((name) => !VARIABLE_NAME.test(name))
  if (bad !== undefined)
    throw createSubstitutionFailure(
      where,
      `the variable name ${JSON.stringify(bad.slice(0, 100))} is not valid`,
    )
  const secrets = collectSecretVariables(flux, object)
  const others = new Map(
    [...variables].map(([name, value]) => [name, secrets.has(name) ? OTHER : value]),
  )
  return documents.map((document): BuiltDocument => {
    if (!isDocumentSubstituted(document)) return { text: document }
    const made = substituteDocument(document, variables, where)
    const other =
      secrets.size === 0 || !document.includes('${')
        ? made
        : substituteDocument(document, others, where)
    return { text: made, isSubstituted: true, ...(other === made ? {} : { other }) }
  })
}

const OTHER = 'backporch-other-value'

/** A variable that the resource itself sets is in git. */
function collectSecretVariables(
  { variableSources = new Map() }: SyncerBuild,
  object: JsonObject,
): ReadonlySet<string> {
  const named = [...variableSources].flatMap(([name, { kind }]) =>
    kind === 'Secret' ? [name] : [],
  )
  return new Set(
    named.filter(
      (name) => typeof getPartAt(object, 'spec', 'postBuild', 'substitute', name) !== 'string',
    ),
  )
}

function describeKustomization(object: JsonObject): string {
  return `Flux Kustomization ${getMetadataText(object, 'namespace')}/${getMetadataText(object, 'name')}`
}

/** `substitute` overrides `substituteFrom`; a value has one line. */
export function getFluxVariables(
  { variables: given }: SyncerBuild,
  object: JsonObject,
): ReadonlyMap<string, string> {
  const own = Object.entries(getObject(getPartAt(object, 'spec', 'postBuild', 'substitute')))
  const all = [
    ...given,
    ...own.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
  ]
  return new Map(all.map(([name, value]) => [name, value.replaceAll('\n', '')]))
}

export function listVariableNames(text: string): readonly string[] {
  if (!text.includes('${')) return []
  try {
    return [...parseVariableNames(text)]
  } catch (thrown) {
    if (thrown instanceof BadSubstitution) return []
    throw thrown
  }
}

function isDocumentSubstituted(document: string): boolean {
  // Only the metadata decides, and most documents do not contain the mark at all.
  if (!document.includes(SUBSTITUTE)) return true
  const value = parseGoYaml(document, 'the output of kustomize').documents[0]?.value
  return !isJsonObject(value) || isSubstituted(value)
}

export function isSubstituted(built: JsonObject): boolean {
  return (
    getLabels(built).get(SUBSTITUTE) !== 'disabled' &&
    getAnnotations(built).get(SUBSTITUTE) !== 'disabled'
  )
}

function substituteDocument(
  document: string,
  variables: ReadonlyMap<string, string>,
  where: string,
): string {
  try {
    return substituteVariables(document, (name) => variables.get(name))
  } catch (thrown) {
    if (!(thrown instanceof BadSubstitution)) throw thrown
    throw createSubstitutionFailure(where, `${thrown.message} in an object of the build`)
  }
}

/**
 * kyaml reads every number as a double, and cannot read the block that it writes for a multi-line
 * text that begins with a tab.
 * @throws Failure BP1209
 */
function readBack(value: Json, resource: JsonObject): Json {
  if (typeof value === 'bigint') {
    const rounded = Number(value)
    return Math.abs(rounded) < 2 ** 63 ? BigInt(rounded) : rounded
  }
  if (typeof value === 'string' && value.startsWith('\t') && value.includes('\n'))
    throw createSubstitutionFailure(
      describeKustomization(resource),
      'the controller cannot read back a text of several lines that begins with a tab',
      NO_TAB,
    )
  if (isJsonArray(value)) return value.map((each) => readBack(each, resource))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, readBack(each, resource)]),
  )
}

function createSubstitutionFailure(where: string, why: string, remedy = CORRECT_IT): Failure {
  return new Failure({
    code: 'BP1209',
    what: 'cannot substitute the variables of postBuild',
    where,
    why,
    remedy,
    retry: 'on-change',
  })
}

const NO_TAB =
  'begin the text differently, or annotate the object with kustomize.toolkit.fluxcd.io/substitute: disabled'
const CORRECT_IT =
  'correct the text after "${" in the manifest or write "$${" for a plain "${", or annotate the object with kustomize.toolkit.fluxcd.io/substitute: disabled'

export function isFluxApplied(object: Json): boolean {
  if (!isJsonObject(object)) return false
  const [apiVersion, kind, name] = [['apiVersion'], ['kind'], ['metadata', 'name']].map((path) =>
    findNonEmptyText(object, ...path),
  )
  if (apiVersion === undefined || kind === undefined || name === undefined) return false
  return (
    kind.toLowerCase() !== 'kustomization' || !apiVersion.startsWith('kustomize.config.k8s.io/')
  )
}

/**
 * The object that the controller makes of a built one.
 * @throws Failure BP1209
 */
export function convertToFluxResult(
  built: JsonObject,
  resource: JsonObject,
  wasSubstituted: boolean,
): JsonObject {
  const read = wasSubstituted ? readBack(built, resource) : built
  return addFluxMetadata(isJsonObject(read) ? read : built, resource)
}

/**
 * `commonMetadata` wins. The controller sets its own labels on the labels that it reads; it reads
 * none if one of them is not text: then all of them are lost.
 */
function addFluxMetadata(object: JsonObject, resource: JsonObject): JsonObject {
  const common = getPartAt(resource, 'spec', 'commonMetadata')
  const metadata = getObject(getKey(object, 'metadata'))
  const labels = {
    ...readTexts(getKey(metadata, 'labels')),
    ...getObject(getPartAt(common ?? null, 'labels')),
  }
  const annotations =
    common === undefined
      ? {}
      : {
          ...readTexts(getKey(metadata, 'annotations')),
          ...getObject(getPartAt(common, 'annotations')),
        }
  const hasLabels = getKey(metadata, 'labels') !== undefined || Object.keys(labels).length > 0
  const set = {
    ...(hasLabels ? { labels } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  }
  return Object.keys(set).length === 0 ? object : { ...object, metadata: { ...metadata, ...set } }
}

/** As `GetLabels` of apimachinery: empty if a value is not text; null becomes an empty text. */
function readTexts(value: Json | undefined): JsonObject {
  const entries = Object.entries(getObject(value)).map(
    ([name, each]) => [name, each ?? ''] as const,
  )
  return entries.every(([, each]) => typeof each === 'string') ? Object.fromEntries(entries) : {}
}

function getObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
