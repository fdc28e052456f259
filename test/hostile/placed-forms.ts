/** The forms of credential-forms.ts as objects of a cluster and of git. */
import { writeValueAt } from '@backporch/kyaml/edit-yaml'
import { findValueAt } from '@backporch/kyaml/field'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { path } from '../fakes/live-object.ts'
import { base64, type CredentialForm, configMap, deployment } from './credential-forms.ts'

/** The forms, each as an object with a name of its own: `form-7`. */
export function placedForms(
  forms: readonly CredentialForm[],
  namespace: string,
): readonly CredentialForm[] {
  return forms.map((form, at) => {
    const metadata = form.object['metadata']
    return {
      ...form,
      object: {
        ...form.object,
        metadata: { ...(isJsonObject(metadata) ? metadata : {}), name: `form-${at}`, namespace },
      },
    }
  })
}

/** The object as git has it: with plain words at the place. */
export function withoutSecret({ object, location }: CredentialForm): JsonObject {
  const word =
    object['kind'] === 'Secret' && location.startsWith('data') ? base64('plain') : 'plain'
  const words = (value: Json): Json => {
    if (isJsonArray(value)) return value.map(words)
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, below]) => [key, words(below)]))
      : word
  }
  const changed = writeValueAt(
    object,
    path(location),
    words(findValueAt(object, path(location)) ?? null),
  )
  if (!isJsonObject(changed)) throw new TypeError('an object stays one')
  return changed
}

/** An object in which some forms stand, with their secrets and with plain words instead. */
export interface FormObject {
  readonly withSecrets: JsonObject
  readonly plain: JsonObject
}

/**
 * The forms in as few objects as hold them: all texts in one ConfigMap, all variables and arguments in one Deployment, the others alone.
 * @param suffix of the objects' names
 */
export function batchedForms(
  forms: readonly CredentialForm[],
  namespace: string,
  suffix: string,
): readonly FormObject[] {
  const texts = forms.filter(
    ({ object, location }) => object['kind'] === 'ConfigMap' && location === 'data.color',
  )
  const programs = forms.filter(
    ({ object, location: position }) =>
      object['kind'] === 'Deployment' && position.startsWith('spec.'),
  )
  const alone = forms.filter((form) => !texts.includes(form) && !programs.includes(form))
  const both = (
    name: string,
    make: (objects: readonly JsonObject[]) => JsonObject,
    of: readonly CredentialForm[],
  ): FormObject => {
    const placed = (object: JsonObject): JsonObject => ({
      ...object,
      metadata: {
        ...(isJsonObject(object['metadata']) ? object['metadata'] : {}),
        name: `${name}-${suffix}`,
        namespace,
      },
    })
    return {
      withSecrets: placed(make(of.map(({ object }) => object))),
      plain: placed(make(of.map(withoutSecret))),
    }
  }
  return [
    ...(texts.length > 0 ? [both('texts', ofTexts, texts)] : []),
    ...(programs.length > 0 ? [both('programs', ofPrograms, programs)] : []),
    ...alone.map((form, at) => both(`form-${at}`, ([object = {}]) => object, [form])),
  ]
}

function ofTexts(objects: readonly JsonObject[]): JsonObject {
  return configMap(
    Object.fromEntries(
      objects.map((object, at) => [`color-${at}`, findValueAt(object, path('data.color')) ?? null]),
    ),
  )
}

function ofPrograms(objects: readonly JsonObject[]): JsonObject {
  const containers = objects.map((object, at) => {
    const container = findValueAt(object, path('spec.template.spec.containers[name=app]'))
    return { ...(isJsonObject(container) ? container : {}), name: `app-${at}` }
  })
  const one = deployment({})
  const changed = writeValueAt(one, path('spec.template.spec.containers'), containers)
  return isJsonObject(changed) ? changed : one
}
