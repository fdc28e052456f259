/** The image releases that the functions reproduce (docs/facts/function-images.md). */
import { createSuccess, type FunctionLibrary, type KrmFunction } from '@backporch/kpt/function'
import {
  answerNotRun,
  type BuiltIn,
  type BuiltIns,
  chooseRuntime,
  createRefusedAnswer,
  NOTHING_ALLOWED,
} from '@backporch/kpt/runtime'
import { adoptDrift } from '../src/drift-functions/adopt-drift/adopt-drift.ts'
import type { FunctionName } from '../src/sources/kpt/locate/inverses.ts'
import { applyReplacements, applyReplacementsAsWritten } from './apply-replacements/fn.ts'
import { applySetters, applySettersOrFail } from './apply-setters/fn.ts'
import { createSetters, createSettersEverywhere } from './create-setters/fn.ts'
import { enableGcpServices } from './enable-gcp-services/fn.ts'
import { ensureNameSubstring } from './ensure-name-substring/fn.ts'
import { generateFolders } from './generate-folders/fn.ts'
import { runKubeconform } from './kubeconform/fn.ts'
import { convertPlainFunc } from './sdk/kpt-func.ts'
import {
  searchReplace,
  searchReplaceAsWritten,
  searchReplaceInAllFiles,
  searchReplaceWithAnyKeys,
} from './search-replace/fn.ts'
import { setAnnotations } from './set-annotations/fn.ts'
import { giveRequests } from './set-default-requests/fn.ts'
import { setImage, setImageOrNothing } from './set-image/fn.ts'
import { setLabel } from './set-label/fn.ts'
import { setLabels } from './set-labels/fn.ts'
import { setLabelsOfKustomize } from './set-labels/kustomize-labels.ts'
import {
  setEveryNamespace,
  setEveryNamespaceIfConfigured,
  setNamespace,
  setOldNamespace,
  setOldNamespaceOrFail,
} from './set-namespace/fn.ts'
import {
  setNamespaceOfAccounts,
  setNamespaceOfKustomize,
} from './set-namespace/kustomize-namespace.ts'
import { upsertResource, upsertResourceByOlderPath } from './upsert-resource/fn.ts'

/** A Kptfile names these by `exec`. The catalog has no image, so no release matches. */
function createOwnBuiltIn(run: KrmFunction): BuiltIn {
  return {
    variants: [{ from: [0, 0, 0], below: [0, 0, 0], run }],
    newest: [0, 0, 0],
    last: undefined,
  }
}

/** A gate closed by drift, or an invalid record, must not prevent comparison and decision. */
const passItemsThrough: KrmFunction = ({ items }) => createSuccess(items)

const FUNCTIONS: { readonly [name in FunctionName]: BuiltIn } = {
  'apply-replacements': {
    variants: [
      { from: [0, 1, 2], below: [0, 1, 3], run: applyReplacements },
      { from: [0, 1, 0], below: [0, 1, 2], run: applyReplacementsAsWritten },
    ],
    newest: [0, 1, 6],
    last: [0, 1, 1],
  },
  'apply-setters': {
    variants: [
      { from: [0, 2, 0], below: [0, 3, 1], run: applySetters },
      { from: [0, 1, 1], below: [0, 1, 2], run: applySettersOrFail },
    ],
    newest: [0, 3, 0],
    last: [0, 2, 0],
    ended: [
      [0, 1, 1],
      [0, 2, 1],
    ],
  },
  // Multi-line texts stop getting comments between these releases; the exact one is unknown.
  'create-setters': {
    variants: [
      { from: [0, 1, 4], below: [0, 1, 5], run: createSetters },
      { from: [0, 1, 0], below: [0, 1, 1], run: createSettersEverywhere },
    ],
    newest: [0, 1, 4],
    last: [0, 1, 0],
  },
  'enable-gcp-services': {
    variants: [{ from: [0, 1, 0], below: [0, 1, 1], run: enableGcpServices }],
    newest: [0, 1, 0],
    last: [0, 1, 0],
  },
  'ensure-name-substring': {
    variants: [{ from: [0, 2, 0], below: [0, 2, 1], run: ensureNameSubstring }],
    newest: [0, 2, 5],
    last: [0, 2, 0],
  },
  'generate-folders': {
    variants: [{ from: [0, 1, 1], below: [0, 1, 2], run: generateFolders }],
    newest: [0, 1, 1],
    last: [0, 1, 1],
  },
  // Not compared with an original. A validator changes no object, so it causes no drift
  // (docs/adr/0054).
  kubeconform: {
    variants: [{ from: [0, 1, 0], below: [0, 1, 3], run: runKubeconform }],
    newest: [0, 1, 2],
    last: undefined,
  },
  // Between these two releases, a new value always becomes text; the exact release is unknown.
  'search-replace': {
    variants: [
      { from: [0, 2, 4], below: [0, 2, 5], run: searchReplace },
      { from: [0, 2, 0], below: [0, 2, 1], run: searchReplaceAsWritten },
      { from: [0, 1, 1], below: [0, 1, 2], run: searchReplaceInAllFiles },
      { from: [0, 1, 0], below: [0, 1, 1], run: searchReplaceWithAnyKeys },
    ],
    newest: [0, 2, 4],
    last: [0, 2, 0],
    ended: [[0, 1, 1]],
  },
  'set-annotations': {
    variants: [{ from: [0, 1, 4], below: [0, 1, 5], run: setAnnotations }],
    newest: [0, 1, 5],
    last: [0, 1, 4],
  },
  'set-image': {
    variants: [
      { from: [0, 1, 1], below: [0, 1, 2], run: setImage },
      { from: [0, 1, 0], below: [0, 1, 1], run: setImageOrNothing },
    ],
    newest: [0, 1, 3],
    last: [0, 1, 1],
  },
  'set-label': {
    variants: [{ from: [0, 1, 2], below: [0, 1, 3], run: setLabel }],
    newest: [0, 1, 2],
    last: [0, 1, 2],
  },
  'set-labels': {
    variants: [
      { from: [0, 2, 0], below: [0, 2, 2], run: setLabels },
      { from: [0, 1, 5], below: [0, 1, 6], run: setLabelsOfKustomize },
    ],
    newest: [0, 2, 2],
    last: [0, 2, 0],
    ended: [[0, 1, 5]],
  },
  'set-namespace': {
    variants: [
      { from: [0, 4, 6], below: [0, 4, 7], run: setNamespace },
      { from: [0, 4, 1], below: [0, 4, 2], run: setEveryNamespace },
      { from: [0, 4, 0], below: [0, 4, 1], run: setEveryNamespaceIfConfigured },
      { from: [0, 3, 3], below: [0, 3, 5], run: setOldNamespace },
      { from: [0, 3, 2], below: [0, 3, 3], run: setOldNamespaceOrFail },
      { from: [0, 2, 0], below: [0, 2, 1], run: setNamespaceOfAccounts },
      { from: [0, 1, 4], below: [0, 1, 5], run: setNamespaceOfKustomize },
    ],
    newest: [0, 4, 6],
    last: [0, 4, 1],
    ended: [
      [0, 1, 4],
      [0, 2, 0],
      [0, 3, 4],
    ],
  },
  'upsert-resource': {
    variants: [
      { from: [0, 2, 4], below: [0, 2, 5], run: upsertResource },
      { from: [0, 2, 0], below: [0, 2, 1], run: upsertResourceByOlderPath },
    ],
    newest: [0, 2, 4],
    last: [0, 2, 0],
  },
  'adopt-drift': createOwnBuiltIn(adoptDrift({ answer: (call) => builtInFunctions.answer(call) })),
  'gate-drift': createOwnBuiltIn(passItemsThrough),
  'set-default-requests': createOwnBuiltIn(convertPlainFunc(giveRequests)),
  'verify-drift-records': createOwnBuiltIn(passItemsThrough),
}

export const BUILT_IN: BuiltIns = new Map(Object.entries(FUNCTIONS))

export const builtInFunctions: FunctionLibrary = {
  answer: ({ step, input }) => {
    const chosen = chooseRuntime(step, NOTHING_ALLOWED, BUILT_IN)
    if (chosen.is === 'built-in') return chosen.run(input)
    if (chosen.is === 'not-run') return answerNotRun(input.items, chosen.failure)
    if (chosen.is === 'refused')
      return createRefusedAnswer(chosen.failure, NOTHING_ALLOWED, BUILT_IN)
    throw new TypeError('only built-in functions are allowed')
  },
}
