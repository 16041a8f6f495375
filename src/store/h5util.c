/*
 * Small helpers on HDF5; see the header.
 */
#include "src/store/h5util.h"

#include <stdlib.h>
#include <string.h>

hid_t tri_h5_access(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_file_locking(access, 0, 1);
    return access;
}

static hid_t text_type(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    size_t n = strlen(text);

    H5Tset_size(type, n > 0 ? n : 1);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static int put_attribute(hid_t object, const char *name, hid_t in_file,
                         hid_t in_memory, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute =
            H5Acreate2(object, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT);
    int result = -1;

    if (attribute >= 0) {
        result = H5Awrite(attribute, in_memory, value);
        H5Aclose(attribute);
    }
    H5Sclose(space);
    return result;
}

int tri_h5_put_text(hid_t object, const char *name, const char *text)
{
    const char *value = text ? text : "";
    hid_t type = text_type(value);
    int result = put_attribute(object, name, type, type, value);

    H5Tclose(type);
    return result;
}

int tri_h5_put_i32(hid_t object, const char *name, int32_t v)
{
    return put_attribute(object, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &v);
}

int tri_h5_put_u64(hid_t object, const char *name, uint64_t v)
{
    return put_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &v);
}

int tri_h5_put_text_set(hid_t group, const char *name, const char *text)
{
    const char *value = text ? text : "";
    hid_t type = text_type(value);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    int result = -1;

    if (set >= 0) {
        result = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
        H5Dclose(set);
    }
    H5Sclose(space);
    H5Tclose(type);
    return result;
}

int tri_h5_get_i32(hid_t object, const char *name, int32_t *v)
{
    hid_t attribute, type, space;
    int result = -1;

    if (H5Aexists(object, name) <= 0) {
        return -1;
    }
    attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) {
        return -1;
    }
    type = H5Aget_type(attribute);
    space = H5Aget_space(attribute);
    if (H5Tget_class(type) == H5T_INTEGER &&
        H5Sget_simple_extent_npoints(space) == 1) {
        result = H5Aread(attribute, H5T_NATIVE_INT32, v);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return result;
}

/* More is no text that a study has. */
#define MOST_TEXT ((size_t)64 << 20)

/* Memory for the one fixed text that an object of `type` and `space` holds;
 * NULL for any other. */
static char *text_room(hid_t type, hid_t space)
{
    size_t bytes = H5Tget_size(type);

    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Sget_simple_extent_npoints(space) != 1 || bytes == 0 ||
        bytes > MOST_TEXT) {
        return NULL;
    }
    return calloc(bytes + 1, 1);
}

static char *get_text_attribute(hid_t group, const char *name)
{
    hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
    hid_t type, space;
    char *text;

    if (attribute < 0) {
        return NULL;
    }
    type = H5Aget_type(attribute);
    space = H5Aget_space(attribute);
    text = text_room(type, space);

    if (text && H5Aread(attribute, type, text) < 0) {
        free(text);
        text = NULL;
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return text;
}

int tri_h5_is_here(hid_t group, const char *name)
{
    H5L_info_t info;

    return H5Lexists(group, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(group, name, &info, H5P_DEFAULT) >= 0 &&
           info.type == H5L_TYPE_HARD;
}

int tri_h5_is_own(hid_t set)
{
    hid_t plist = H5Dget_create_plist(set);
    int own = plist >= 0 && H5Pget_layout(plist) != H5D_VIRTUAL &&
              H5Pget_external_count(plist) == 0;

    H5Pclose(plist);
    return own;
}

static char *get_text_set(hid_t group, const char *name)
{
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    hid_t type, space;
    char *text;

    if (set < 0) {
        return NULL;
    }
    type = H5Dget_type(set);
    space = H5Dget_space(set);
    text = tri_h5_is_own(set) ? text_room(type, space) : NULL;

    if (text && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        free(text);
        text = NULL;
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return text;
}

char *tri_h5_get_text(hid_t group, const char *name)
{
    if (H5Aexists(group, name) > 0) {
        return get_text_attribute(group, name);
    }
    if (tri_h5_is_here(group, name)) {
        return get_text_set(group, name);
    }
    return NULL;
}
