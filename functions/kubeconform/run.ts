#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { kubeconform } from './fn.ts'

await runFunction(kubeconform)
