/**
 * What kustomize-controller makes of the objects that it built of a Flux Kustomization: variables and common metadata (fluxcd/pkg `kustomize`
 * 1.23.0 `kustomize_varsub.go`, `ssa/utils/meta.go`, kustomize-controller 1.7.2 `kustomization_controller.go`).
 */
import { Failure } from '@backporch/kyaml/failure'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  partOf,
  textOf,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { annotationsOf, labelsOf, metadataText } from '@backporch/kyaml/resource'
import type { BuiltDocument, SyncerBuild } from '../build/built-source.ts'
import { BadSubstitution, substituteVariables, variablesIn } from './shell-variables.ts'

const GROUP = 'kustomize.toolkit.fluxcd.io'
const SUBSTITUTE = `${GROUP}/substitute`
const VARIABLE_NAME = /^[_A-Za-z][_A-Za-z0-9]*$/

/**
 * What the controller makes of each built object by its variables; where there are any, it reads the object back.
 * @param text documents as kustomize prints them
 * @throws Failure BP1209 where the substitution fails
 */
export function fluxDocuments(
  flux: SyncerBuild,
  object: JsonObject,
  text: string,
): readonly BuiltDocument[] {
  const variables = fluxVariables(flux, object)
  const documents = text.split(/^---\n/m).filter((document) => document.trim() !== '')
  if (partOf(object, 'spec', 'postBuild') === undefined || variables.size === 0)
    return documents.map((document) => ({ text: document }))
  const where = whereOf(object)
  const bad = [...variables.keys()].find((name) => !VARIABLE_NAME.test(name))
  if (bad !== undefined)
    throw unsubstituted(
      where,
      `the variable name ${JSON.stringify(bad.slice(0, 100))} is not valid`,
    )
  const secrets = secretVariables(flux, object)
  const others = new Map(
    [...variables].map(([name, value]) => [name, secrets.has(name) ? OTHER : value]),
  )
  return documents.map((document): BuiltDocument => {
    if (!isDocumentSubstituted(document)) return { text: document }
    const made = substituted(document, variables, where)
    const other =
      secrets.size === 0 || !document.includes('${') ? made : substituted(document, others, where)
    return { text: made, isSubstituted: true, ...(other === made ? {} : { other }) }
  })
}

/** In place of the value of a Secret, to see where it lands. */
const OTHER = 'backporch-other-value'

/** A variable that the resource itself sets is in git. */
function secretVariables(
  { variableSources = new Map() }: SyncerBuild,
  object: JsonObject,
): ReadonlySet<string> {
  const named = [...variableSources].flatMap(([name, { kind }]) =>
    kind === 'Secret' ? [name] : [],
  )
  return new Set(
    named.filter(
      (name) => typeof partOf(object, 'spec', 'postBuild', 'substitute', name) !== 'string',
    ),
  )
}

function whereOf(object: JsonObject): string {
  return `Flux Kustomization ${metadataText(object, 'namespace')}/${metadataText(object, 'name')}`
}

/** Those of `substitute` over those of `substituteFrom`; a value has one line. */
export function fluxVariables(
  { variables: given }: SyncerBuild,
  object: JsonObject,
): ReadonlyMap<string, string> {
  const own = Object.entries(objectOf(partOf(object, 'spec', 'postBuild', 'substitute')))
  const all = [
    ...given,
    ...own.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
  ]
  return new Map(all.map(([name, value]) => [name, value.replaceAll('\n', '')]))
}

export function variableNames(text: string): readonly string[] {
  if (!text.includes('${')) return []
  try {
    return [...variablesIn(text)]
  } catch (thrown) {
    if (thrown instanceof BadSubstitution) return []
    throw thrown
  }
}

function isDocumentSubstituted(document: string): boolean {
  // Only the metadata decides, and most documents do not name the mark at all.
  if (!document.includes(SUBSTITUTE)) return true
  const value = parseGoYaml(document, 'the output of kustomize').documents[0]?.value
  return !isJsonObject(value) || isSubstituted(value)
}

/** Whether variables are substituted in the object. */
export function isSubstituted(built: JsonObject): boolean {
  return (
    labelsOf(built).get(SUBSTITUTE) !== 'disabled' &&
    annotationsOf(built).get(SUBSTITUTE) !== 'disabled'
  )
}

function substituted(
  document: string,
  variables: ReadonlyMap<string, string>,
  where: string,
): string {
  try {
    return substituteVariables(document, (name) => variables.get(name))
  } catch (thrown) {
    if (!(thrown instanceof BadSubstitution)) throw thrown
    throw unsubstituted(where, `${thrown.message} in an object of the build`)
  }
}

/**
 * A value of a substituted object as kyaml reads it back: every number is a double, and it does not read the block that it writes of a text
 * of several lines that begins with a tab.
 * @throws Failure BP1209
 */
function readBack(value: Json, resource: JsonObject): Json {
  if (typeof value === 'bigint') {
    const rounded = Number(value)
    return Math.abs(rounded) < 2 ** 63 ? BigInt(rounded) : rounded
  }
  if (typeof value === 'string' && value.startsWith('\t') && value.includes('\n'))
    throw unsubstituted(
      whereOf(resource),
      'the controller cannot read back a text of several lines that begins with a tab',
      NO_TAB,
    )
  if (isJsonArray(value)) return value.map((each) => readBack(each, resource))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, readBack(each, resource)]),
  )
}

function unsubstituted(where: string, why: string, remedy = CORRECT_IT): Failure {
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
  'begin the text otherwise, or annotate the object with kustomize.toolkit.fluxcd.io/substitute: disabled'
const CORRECT_IT =
  'correct the text after "${" in the manifest or write "$${" for a plain "${", or annotate the object with kustomize.toolkit.fluxcd.io/substitute: disabled'

/** Flux drops what has no name as a text, kind or version, and a kustomization of kustomize. */
export function isFluxApplied(object: Json): boolean {
  if (!isJsonObject(object)) return false
  const [apiVersion, kind] = [textOf(object, 'apiVersion'), textOf(object, 'kind')]
  if (apiVersion === '' || kind === '' || metadataText(object, 'name') === '') return false
  return (
    kind.toLowerCase() !== 'kustomization' || !apiVersion.startsWith('kustomize.config.k8s.io/')
  )
}

/** The object that the controller makes of a built one. @throws Failure BP1209 */
export function madeByFlux(
  built: JsonObject,
  resource: JsonObject,
  wasSubstituted: boolean,
): JsonObject {
  const read = wasSubstituted ? readBack(built, resource) : built
  return withFluxMetadata(isJsonObject(read) ? read : built, resource)
}

/**
 * The object with `commonMetadata`, whose keys win. Before that the controller sets labels of its own on what it reads of the labels, and it
 * reads none where one of them is not a text: then all of them are gone.
 */
function withFluxMetadata(object: JsonObject, resource: JsonObject): JsonObject {
  const common = partOf(resource, 'spec', 'commonMetadata')
  const metadata = objectOf(getKey(object, 'metadata'))
  const labels = {
    ...readTexts(getKey(metadata, 'labels')),
    ...objectOf(partOf(common ?? null, 'labels')),
  }
  const annotations =
    common === undefined
      ? {}
      : {
          ...readTexts(getKey(metadata, 'annotations')),
          ...objectOf(partOf(common, 'annotations')),
        }
  const hasLabels = getKey(metadata, 'labels') !== undefined || Object.keys(labels).length > 0
  const set = {
    ...(hasLabels ? { labels } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  }
  return Object.keys(set).length === 0 ? object : { ...object, metadata: { ...metadata, ...set } }
}

/** As `GetLabels` of apimachinery: nothing where a value is not a text, and an empty text for null. */
function readTexts(value: Json | undefined): JsonObject {
  const entries = Object.entries(objectOf(value)).map(([name, each]) => [name, each ?? ''] as const)
  return entries.every(([, each]) => typeof each === 'string') ? Object.fromEntries(entries) : {}
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
