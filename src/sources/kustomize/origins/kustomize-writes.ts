/** Runs the transformers in kustomize's order (`kusttarget_configplugin.go`). */
import type { FieldSpec } from '@backporch/kpt/field'
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import {
  getKey,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import {
  type FileLocation,
  index,
  isAt,
  makePath,
  type SourceDocument,
} from '../../build/adopt/source-document.ts'
import type { Patch, PatchField } from '../locate/kustomize-patches.ts'
import { type BuiltIdentity, getIdentityText, isIdentity } from './built-identity.ts'
import { FieldHistory, type TracedField, UNKNOWN } from './field-history.ts'
import { recordGeneratorWrites } from './generator-writes.ts'
import { recordImageWrites } from './image-writes.ts'
import {
  ALL_LABELS,
  ANNOTATIONS,
  findFieldSpec,
  NAMESPACES,
  OWN_LABELS,
  REPLICAS,
  TEMPLATE_LABELS,
} from './kustomize-field-specs.ts'
import type { Chain } from './kustomize-stages.ts'
import { ListLocations } from './list-locations.ts'
import { listOperationWrites, mergeWrite, type PatchWrite } from './patch-writes.ts'
import { listReplacementLocations } from './replacement-locations.ts'

/** Renames `identity` to the rendered name. @param assumed a patch of unknown effect applies */
export function runThrough(
  chain: Chain,
  identity: BuiltIdentity,
  field: TracedField,
  assumed: 'maybe' | 'yes' = 'maybe',
): FieldHistory {
  const run = new KustomizeRun(identity, field, assumed)
  for (const [number, { kustomization, does, layers }] of chain.entries()) {
    if (does === 'generate')
      recordGeneratorWrites(kustomization, {
        identity,
        field,
        history: run.history,
        isFirst: number === 0,
      })
    else run.transform(kustomization, layers)
  }
  return run.history
}

class KustomizeRun {
  readonly history: FieldHistory
  private readonly identity: BuiltIdentity
  private readonly field: TracedField
  private readonly lists: ListLocations
  private readonly assumed: 'maybe' | 'yes'

  constructor(identity: BuiltIdentity, field: TracedField, assumed: 'maybe' | 'yes') {
    this.identity = identity
    this.assumed = assumed
    this.field = field
    this.history = new FieldHistory(findValueAt(field.declared, field.path))
    this.lists = new ListLocations(field.path, field.declared)
  }

  transform(kustomization: SourceDocument, layers: readonly SourceDocument[]): void {
    const { identity, field, history } = this
    const withLayers = [kustomization, ...layers]
    const withLast = (name: string): readonly SourceDocument[] => [
      kustomization,
      ...layers.filter((each) => each.hasField(name)).slice(-1),
    ]
    const patches = withLast('patches').flatMap((each) => field.patchesOf(each))
    this.patch(patches, 'patchesStrategicMerge')
    this.patch(patches, 'patches')
    this.recordNamespace(withLayers)
    this.recordAffix(withLayers, 'namePrefix')
    this.recordAffix(withLayers, 'nameSuffix')
    this.recordLabels(kustomization)
    this.recordAddedLabels(layers)
    for (const each of withLayers)
      this.mark(each, 'commonAnnotations of', makePath('commonAnnotations'), ANNOTATIONS)
    this.patch(patches, 'patchesJson6902')
    for (const each of withLast('replicas')) this.recordReplicas(each)
    recordImageWrites(withLast('images'), { identity, field, history })
    for (const location of listReplacementLocations(kustomization, identity, field))
      history.mayWrite('replacements of', location)
    this.suspectTransformers(kustomization)
  }

  private patch(patches: readonly Patch[], name: PatchField): void {
    for (const patch of patches) {
      if (patch.field !== name) continue
      for (const document of patch.documents) this.patchWith(patch, document)
    }
  }

  private patchWith({ target }: Patch, document: SourceDocument): void {
    const isMerge = isJsonObject(document.getValueAt([]))
    const own = isMerge && this.isNamedBy(document) ? 'yes' : 'no'
    const found = target === undefined ? own : this.identity.evaluateTarget(target)
    const selected = found === 'maybe' ? this.assumed : found
    if (selected === 'no') return
    if (selected === 'maybe') this.lists.markUnsure()
    const { path } = this.field
    for (const write of isMerge
      ? [mergeWrite(document, path)]
      : listOperationWrites(document, path, this.lists))
      if (write !== undefined)
        this.recordPatch(document, selected === 'maybe' ? { ...write, does: 'may write' } : write)
    if (isMerge) this.lists.merge(document)
  }

  private isNamedBy(document: SourceDocument): boolean {
    const [apiVersion, kind, name, namespace] = [
      ['apiVersion'],
      ['kind'],
      ['metadata', 'name'],
      ['metadata', 'namespace'],
    ].map((names) => document.getValueAt(makePath(...names)))
    const { group, version } = this.identity
    return (
      apiVersion === (group === '' ? version : `${group}/${version}`) &&
      kind === this.identity.kind &&
      this.identity.isCalled(String(name), typeof namespace === 'string' ? namespace : '')
    )
  }

  private recordPatch(document: SourceDocument, { does, at, value }: PatchWrite): void {
    // The identity of a patch or its item is not a value that it sets.
    if (
      isIdentity(this.field.path) ||
      (isItemKey(this.field.path) && this.history.value !== undefined && does !== 'removes')
    )
      return
    const location = document.findLocation(at)
    if (does === 'writes') this.history.write('the patch', value, [{ location }])
    else if (does === 'removes') this.history.remove('the patch', location)
    else this.history.mayWrite('the patch', location)
  }

  private recordNamespace(documents: readonly SourceDocument[]): void {
    const set = findLastText(documents, 'namespace', 'targetNamespace')
    if (set === undefined) return
    const { text: value, location } = set
    const { path } = this.field
    const isOwn = isAt(path, 'metadata', 'namespace')
    if (this.identity.isNamespaced) this.identity.rename({ namespace: value })
    else if (isOwn) return
    if (this.identity.kind === 'Namespace' && this.identity.group === '')
      this.identity.rename({ name: value })
    if (isOwn || this.writesInto(NAMESPACES, path) || this.isDefaultSubject(path))
      this.history.write('namespace of', value, [{ location }])
  }

  private isDefaultSubject(path: FieldPath): boolean {
    const [subjects, item, name] = path
    if (
      !/^(Cluster)?RoleBinding$/.test(this.identity.kind) ||
      path.length !== 3 ||
      name?.kind !== 'field'
    )
      return false
    const subject =
      item === undefined ? undefined : findValueAt(this.field.desired.object, path.slice(0, 2))
    return (
      subjects?.kind === 'field' &&
      subjects.name === 'subjects' &&
      name.name === 'namespace' &&
      getPartAt(subject, 'name') === 'default'
    )
  }

  private recordAffix(
    documents: readonly SourceDocument[],
    name: 'namePrefix' | 'nameSuffix',
  ): void {
    const set = findLastText(documents, name)
    if (set === undefined || this.identity.keepsName) return
    const { text, location } = set
    const now = this.identity.now.name
    const after = name === 'namePrefix' ? `${text}${now}` : `${now}${text}`
    this.identity.rename({ name: after })
    if (isAt(this.field.path, 'metadata', 'name'))
      this.history.write(`${name} of`, after, [{ location }], `the ${name.slice(4).toLowerCase()}`)
  }

  private recordLabels(kustomization: SourceDocument): void {
    for (const { index: position, value } of kustomization.listEntries('labels')) {
      const own = getKey(value, 'fields')
      const custom = isJsonArray(own)
        ? own.flatMap((each) => (isJsonObject(each) ? [readFieldSpec(each)] : []))
        : []
      const known =
        getKey(value, 'includeSelectors') === true
          ? ALL_LABELS
          : getKey(value, 'includeTemplates') === true
            ? [...OWN_LABELS, ...TEMPLATE_LABELS]
            : OWN_LABELS
      this.mark(
        kustomization,
        'labels of',
        [...makePath('labels'), index(position), ...makePath('pairs')],
        [...custom, ...known],
      )
    }
    this.mark(kustomization, 'commonLabels of', makePath('commonLabels'), ALL_LABELS)
  }

  /** Argo CD has separate fields for where `commonLabels` apply. */
  private recordAddedLabels(layers: readonly SourceDocument[]): void {
    const isSet = (name: string): boolean =>
      layers.findLast((each) => each.hasField(name))?.getValueAt(makePath(name)) === true
    const own = isSet('labelIncludeTemplates') ? [...OWN_LABELS, ...TEMPLATE_LABELS] : OWN_LABELS
    const specs = isSet('labelWithoutSelector') ? own : ALL_LABELS
    for (const each of layers) this.mark(each, 'commonLabels of', makePath('commonLabels'), specs)
  }

  private mark(
    kustomization: SourceDocument,
    by: string,
    pairs: FieldPath,
    specs: readonly FieldSpec[],
  ): void {
    const last = this.field.path.at(-1)
    if (last?.kind !== 'field' || !this.writesInto(specs, this.field.path.slice(0, -1))) return
    const at = [...pairs, last]
    const value = kustomization.getValueAt(at)
    // Argo CD has its own variables in them.
    const isPlain = typeof value === 'string' && !(kustomization.isPart && value.includes('$'))
    if (value !== undefined)
      this.history.write(by, isPlain ? value : UNKNOWN, [
        { location: kustomization.findLocation(at) },
      ])
  }

  private writesInto(specs: readonly FieldSpec[], path: FieldPath): boolean {
    const spec = findFieldSpec(specs, this.identity, path)
    return (
      spec !== undefined &&
      (spec.create === true || findValueAt(this.field.desired.object, path) !== undefined)
    )
  }

  private recordReplicas(kustomization: SourceDocument): void {
    if (!this.writesInto(REPLICAS, this.field.path)) return
    for (const { index: position, value } of kustomization.listEntries('replicas')) {
      const at = [...makePath('replicas'), index(position), ...makePath('count')]
      if (this.identity.isNamed(getIdentityText(value, 'name')))
        this.history.write('replicas of', kustomization.getValueAt(at) ?? UNKNOWN, [
          { location: kustomization.findLocation(at) },
        ])
    }
  }

  /** Only kustomize knows the fields that these write. */
  private suspectTransformers(kustomization: SourceDocument): void {
    const { path } = this.field
    for (const name of ['transformers', 'configurations', 'crds'])
      if (kustomization.listTexts(name).length > 0)
        this.history.suspect(`${name} of`, kustomization.findLocation(makePath(name)))
    const value = this.history.value
    for (const { index: position, value: variable } of kustomization.listEntries('vars'))
      if (typeof value === 'string' && value.includes(`$(${getIdentityText(variable, 'name')})`))
        this.history.mayWrite(
          'vars of',
          kustomization.findLocation([...makePath('vars'), index(position)]),
        )
    const requested = kustomization.getValueAt(makePath('buildMetadata'))
    if (
      isJsonArray(requested) &&
      requested.includes('managedByLabel') &&
      isAt(path, 'metadata', 'labels', 'app.kubernetes.io/managed-by')
    )
      this.history.write('buildMetadata of', UNKNOWN, [
        { location: kustomization.findLocation(makePath('buildMetadata')) },
      ])
  }
}

function findLastText(
  documents: readonly SourceDocument[],
  ...names: readonly string[]
): { text: string; location: FileLocation } | undefined {
  const found = documents.flatMap((document) =>
    names.flatMap((name) => {
      const text = document.getValueAt(makePath(name))
      return typeof text === 'string' && text !== ''
        ? [{ text, location: document.findLocation(makePath(name)) }]
        : []
    }),
  )
  return found.at(-1)
}

function readFieldSpec(value: JsonObject): FieldSpec {
  const [group, version, kind] = ['group', 'version', 'kind'].map((name) =>
    getIdentityText(value, name),
  )
  return {
    group: group ?? '',
    version: version ?? '',
    kind: kind ?? '',
    path: getIdentityText(value, 'path'),
    create: getKey(value, 'create') === true,
  }
}

function isItemKey(path: FieldPath): boolean {
  const [item, last] = path.slice(-2)
  return item?.kind === 'item' && last?.kind === 'field' && Object.hasOwn(item.keys, last.name)
}
