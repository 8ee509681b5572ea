import type { INestApplication, Type } from '@nestjs/common';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ModulesContainer } from '@nestjs/core';
import { type Needs, ROLE_KEY } from '../auth/roles.js';
import { CLUSTERM_KEY } from '../auth/surface.js';

/** A route as its decorators declare it. */
export interface Route {
  /** `POST /v1/nodes/{name}/fence` */
  name: string;
  method: string;
  path: string;
  needs: Needs | undefined;
  /** Of the surface for old clients. */
  clusterm: boolean;
  /** Class whose rules check the body. */
  body?: Type<object>;
  /** Class whose rules check the query. */
  query?: Type<object>;
  /** Headers that the handler takes, lower case. */
  headers: string[];
  /** Media types of its answer, where its decorators name them. */
  produces: string[];
}

/** As `@ApiProduces` keeps it. */
const API_PRODUCES = 'swagger/apiProduces';

type Handler = (...args: unknown[]) => unknown;
type Argument = { index: number; data?: unknown };

/** Every route of the application, from the same metadata by which Nest serves it: none can be forgotten. */
export function routesOf(app: INestApplication): Route[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((m) => [...m.controllers.values()]);
  return controllers.flatMap(({ metatype }) => (metatype ? routesOfController(metatype as Type<object>) : []));
}

function routesOfController(controller: Type<object>): Route[] {
  const prototype = controller.prototype as Record<string, Handler>;
  return Object.getOwnPropertyNames(prototype).flatMap((handlerName) => {
    const handler = prototype[handlerName] as Handler;
    const paths = meta<string | string[] | undefined>(PATH_METADATA, handler);
    if (handlerName === 'constructor' || paths === undefined) return [];
    const method = RequestMethod[meta<RequestMethod>(METHOD_METADATA, handler)];
    const under = [meta<string | string[]>(PATH_METADATA, controller)].flat();
    return under.flatMap((prefix) =>
      [paths].flat().map((path) => routeOf(controller, handlerName, method, pathOf(prefix, path))),
    );
  });
}

function routeOf(controller: Type<object>, handlerName: string, method: string, path: string): Route {
  const prototype = controller.prototype as Record<string, Handler>;
  const declared = meta<Record<string, Argument> | undefined>(ROUTE_ARGS_METADATA, controller, handlerName) ?? {};
  const types = (Reflect.getMetadata('design:paramtypes', prototype, handlerName) ?? []) as Type<object>[];
  const all = (kind: RouteParamtypes): Argument[] =>
    Object.entries(declared).flatMap(([key, argument]) => (key.startsWith(`${kind}:`) ? [argument] : []));
  /** The class of a whole body or query; one that is taken apart by name has none. */
  const whole = (kind: RouteParamtypes): Type<object> | undefined =>
    all(kind)
      .filter((a) => a.data === undefined)
      .map((a) => types[a.index])
      .find((type) => type !== undefined && type !== Object);
  const body = whole(RouteParamtypes.BODY);
  const query = whole(RouteParamtypes.QUERY);
  return {
    name: `${method} ${path}`,
    method,
    path,
    clusterm: Reflect.getMetadata(CLUSTERM_KEY, controller) === true,
    needs: meta<Route['needs']>(ROLE_KEY, prototype[handlerName] as Handler),
    headers: all(RouteParamtypes.HEADERS).map((a) => String(a.data).toLowerCase()),
    produces: meta<string[] | undefined>(API_PRODUCES, prototype[handlerName] as Handler) ?? [],
    ...(body && { body }),
    ...(query && { query }),
  };
}

const meta = <T>(key: string, target: object, property?: string): T =>
  (property === undefined ? Reflect.getMetadata(key, target) : Reflect.getMetadata(key, target, property)) as T;

/** `v1/nodes` and `:name/fence` → `/v1/nodes/{name}/fence`. */
const pathOf = (...parts: string[]): string =>
  `/${parts
    .flatMap((part) => part.split('/'))
    .filter((part) => part !== '')
    .join('/')}`.replace(/:(\w+)/g, '{$1}');
