/**
 * Sets the images of containers (krm-functions-catalog, `functions/go/set-image` v0.1.2; the texts of its results and errors
 * are its own).
 */

import { configData } from '../../src/render/kpt/config-data.ts'
import { fileOf } from '../../src/render/kpt/item-annotations.ts'
import type { FunctionOutput, FunctionResult, KrmFunction } from '../../src/render/kpt/krm-function.ts'
import {
  isNull,
  itemsAt,
  nodeAt,
  setEntry,
  textAt,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
  yamlText,
} from '../../src/yaml/yaml-node.ts'
import { hasField, type ImageField, visitField } from './image-fields.ts'
import { containerReference, fieldReference, type Image, imageMatcher } from './image-name.ts'
import { plainStyle } from './plain-style.ts'

/** The config is a ConfigMap with the image in its `data`, or a SetImage with `image` and `additionalImageFields`. */
export const setImage: KrmFunction = ({ items, config }) => {
  const image = imageOf(config)
  if (typeof image === 'string') return terminated(items, image)
  const matches = imageMatcher(image.name)
  if (matches === undefined) return terminated(items, `\`name\` ${image.name} cannot be part of a regular expression`)
  const problems: FunctionResult[] = []
  let count = 0
  for (const item of items) {
    for (const containers of containerLists(item)) {
      const changed = setContainers(containers, image, matches)
      if (typeof changed === 'string') problems.push(problemAt(item, changed))
      else count += changed
    }
  }
  const fields = imageFields(config)
  if (fields !== undefined) {
    for (const item of items) {
      for (const field of fields.filter((each) => hasField(item, each))) {
        const problem = visitField(item, field, (node) => {
          if (!matches(node.value)) return
          setReference(node, fieldReference(node.value, image))
          count += 1
        })
        if (problem !== undefined) problems.push(problemAt(item, `considering field '${field.path}': ${problem}`))
      }
      // The original takes every object through JSON here, with or without such a field.
      plainStyle(item)
    }
  }
  const summary: FunctionResult = { message: `summary: updated a total of ${count} image(s)`, severity: 'info' }
  return { items, results: [...problems, summary], exitCode: problems.length === 0 ? 0 : 1, stderr: '' }
}

/** The original reports such an error twice, and prints it. */
function terminated(items: readonly YamlMap[], message: string): FunctionOutput {
  const why = `function is terminated: ${message}`
  const results = [message, why].map((each) => ({ message: each, severity: 'error' as const }))
  return { items, results, exitCode: 1, stderr: `failed to evaluate function: ${why}` }
}

/** The image of the config, or the problem. */
function imageOf(config: YamlMap | undefined): Image | string {
  const group = groupOf(config)
  const kind = textAt(config, 'kind') ?? ''
  const isKnown = config === undefined || (kind === 'ConfigMap' && group === '') || (kind === 'SetImage' && group === 'fn.kpt.dev')
  if (!isKnown) {
    return `unknown FunctionConfig \`${group === '' ? kind : `${kind}.${group}`}\`, expect \`SetImage.fn.kpt.dev\` or \`ConfigMap.v1\``
  }
  const given = (key: string) => textAt(config, 'image', key) ?? ''
  const image = { name: given('name'), newName: given('newName'), newTag: given('newTag'), digest: given('digest') }
  for (const [key, value] of configData(config)) {
    if (!isKeyOf(image, key)) return `ConfigMap has wrong field name ${key}`
    image[key] = value
  }
  if (image.name === '') return 'must specify `name`'
  if (image.newName === '' && image.newTag === '' && image.digest === '') return 'must specify one of `newName`, `newTag`, or `digest`'
  return image
}

function isKeyOf<T extends object>(object: T, key: string): key is Extract<keyof T, string> {
  return Object.hasOwn(object, key)
}

function groupOf(item: YamlMap | undefined): string {
  const apiVersion = textAt(item, 'apiVersion') ?? ''
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/** Undefined where the config has no such list. */
function imageFields(config: YamlMap | undefined): readonly ImageField[] | undefined {
  if (nodeAt(config, 'additionalImageFields')?.kind !== 'list') return undefined
  return itemsAt(config, 'additionalImageFields').map((field) => {
    const given = (key: string) => textAt(field, key) ?? ''
    return { group: given('group'), version: given('version'), kind: given('kind'), path: given('path') }
  })
}

const TEMPLATED = new Set(['Deployment', 'StatefulSet', 'ReplicaSet', 'DaemonSet', 'PodTemplate'])

/** The lists of containers that an object of a known kind has. Containers of `initContainers` keep their images: see below. */
function containerLists(item: YamlMap): YamlNode[] {
  const kind = textAt(item, 'kind') ?? ''
  const above = kind === 'Pod' ? ['spec'] : TEMPLATED.has(kind) ? ['spec', 'template', 'spec'] : undefined
  if (above === undefined) return []
  // The original misspells `initContainers`; packages are rendered by it, so the word stays.
  return ['iniContainers', 'containers'].flatMap((name) => nodeAt(item, ...above, name) ?? [])
}

/** @returns how many images changed, or the problem */
function setContainers(containers: YamlNode, image: Image, matches: (reference: string) => boolean): number | string {
  if (containers.kind !== 'list') return 'the containers are not a list'
  let count = 0
  for (const container of containers.items) {
    const fields = nodeAt(container)
    if (fields?.kind !== 'map') return 'a container is not a map'
    const reference = nodeAt(fields, 'image')
    if (reference !== undefined && reference.kind !== 'scalar') return 'the image of a container is not a text'
    if (reference === undefined || isNull(reference) || !matches(reference.value)) continue
    const wanted = containerReference(reference.value, image)
    if (wanted === reference.value) {
      // Seen by who watches a render: the function decides about an image that is right already, too.
      reference.value = wanted
      continue
    }
    // The text without the quotes that it had, as the SDK of the original sets one.
    setEntry(fields, 'image', yamlText(wanted))
    count += 1
  }
  return count
}

function setReference(node: YamlScalar, reference: string): void {
  node.value = reference
  node.tag = ''
}

function problemAt(item: YamlMap, message: string): FunctionResult {
  const { path } = fileOf(item)
  const [apiVersion, kind, name, namespace] = [['apiVersion'], ['kind'], ['metadata', 'name'], ['metadata', 'namespace']].map((keys) =>
    textAt(item, ...keys),
  )
  const resourceRef = {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  }
  return { message, severity: 'error', resourceRef, ...(path === '' ? {} : { file: { path } }) }
}
