import type { Credential } from './test-authority.ts'

/**
 * The text of a kubeconfig with everything embedded. JSON, which is YAML too, so that no library is needed to write it.
 *
 * @param authority PEM.
 */
export function kubeconfig(
  url: string,
  authority: string,
  user: string,
  credential: Credential,
): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: url, 'certificate-authority-data': base64(authority) } },
    ],
    users: [
      {
        name: user,
        user: {
          'client-certificate-data': base64(credential.certificate),
          'client-key-data': base64(credential.key),
        },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
